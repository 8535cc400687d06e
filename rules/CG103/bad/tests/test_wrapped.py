from tests.helpers import replaced


def test_wrapped():
    with replaced("pkg.worker.is_serial", 1):  # expect: CG103 pkg.worker:is_serial runtime-error lost=1
        pass
