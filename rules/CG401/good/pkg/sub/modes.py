from enum import Enum, IntEnum


class Routing(IntEnum):
    PLAIN = 0
    NORMALIZED = 1
    GROUPED = 2
    SIGMOID = 3
    TOP_K = 4


class Level(Enum):
    LOW = 1
    MIDDLE = 2
    HIGH = 3
    HIGHEST = 4
