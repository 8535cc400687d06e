from tests.helpers import wait_until_free as wait


@wait_until_free()  # expect: CG101 tests.helpers:wait_until_free collection-error lost=1
def test_waits():
    assert wait
