from enum import IntEnum


class Routing(IntEnum):
    PLAIN = (0,)
    NORMALIZED = (1,)
    GROUPED = (2,)
    SIGMOID = (3,)
    TOP_K = (4,)
    UNSPECIFIED = (5,)
