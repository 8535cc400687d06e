import pkg.worker
from pkg import parallel


def replacement():
    return None


pkg.worker.group_blocks = replacement  # expect: CG103 pkg.worker:group_blocks warning silent
setattr(parallel, "reduce_all", replacement)  # expect: CG103 pkg.parallel:reduce_all warning silent
