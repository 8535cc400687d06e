from pkg.masks import (
    is_image,
    is_video,  # expect: CG101 pkg.masks:is_video collection-error lost=1
    is_audio as audio,  # expect: CG101 pkg.masks:is_audio collection-error lost=1
)


def test_masks():
    assert is_image and is_video and audio
