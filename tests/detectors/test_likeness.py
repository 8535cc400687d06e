"""Which names may be another's new name."""

import pytest

from contract_guard.detectors.likeness import may_be_renamed, renamed


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("PAD_ID", "pad_id"),
        ("padId", "pad_id"),
        ("PAD_ID", "PADDING_ID"),
        ("temporary_file", "temporary_pyfile"),
        ("load_weigths", "load_weights"),
        ("ModelConfig", "VisionModelConfig"),
        ("image_token_id", "id_image_token"),
        ("constants", "constant"),
    ],
)
def test_names_that_may_be_one(name: str, other: str) -> None:
    assert may_be_renamed(name, other)
    assert may_be_renamed(other, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("MXFP4", "NVFP4"),
        ("MXFP8", "FP8"),
        ("MXFP8", "MXFP4"),
        ("layer_1", "layer_2"),
        ("layer_1", "layer"),
        ("get_width", "get_height"),
        ("get_nv_backend", "get_backend"),
        ("pytorch", "recipe"),
        ("pytorch", "utils"),
        ("distributed", "registry"),
        ("distributed", "base"),
        ("Config", "ModelTestConfig"),
        ("min_value", "max_value"),
    ],
)
def test_siblings_and_strangers(name: str, other: str) -> None:
    assert not may_be_renamed(name, other)
    assert not may_be_renamed(other, name)


def test_where_many_names_fit_none_is_meant() -> None:
    assert renamed("Config_file", ["config_file", "configFile", "x"]) == [
        "configFile",
        "config_file",
    ]
    assert renamed("config_file", ["config_files", "config_filer", "config_filed"]) == []
