from enum import Enum, IntEnum


class Routing(IntEnum):
    PLAIN = 0
    NORMALIZED = 1
    GROUPED = 2
    SIGMOID = 3


class Level(Enum):
    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"
    HIGHEST = "highest"
