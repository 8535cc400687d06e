from pkg.gemm import SegmentWrapper  # expect: CG104 pkg.group_gemm collection-error lost=2
import pkg.gemm_old as old  # expect: CG104 pkg.gemm_old collection-error lost=2


def test_wrapper():
    assert SegmentWrapper


def test_late():
    from pkg.gone.deep import thing  # expect: CG104 pkg.gone runtime-error lost=1

    assert thing and old
