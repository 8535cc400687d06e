from .constants import PAGE_SIZE  # expect: CG101 pkg.constants:PAGE_SIZE collection-error lost=3


def load(pages):
    return pages * PAGE_SIZE
