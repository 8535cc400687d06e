import enum


class Kind(enum.Enum):
    FIRST = 1


class Plain:
    limit: int
