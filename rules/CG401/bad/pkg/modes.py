from enum import IntEnum


class Routing(IntEnum):
    PLAIN = 0
    NORMALIZED = 1
    GROUPED = 2
    SIGMOID = 3
    UNSPECIFIED = 4  # expect: CG401 pkg.modes:Routing.UNSPECIFIED
