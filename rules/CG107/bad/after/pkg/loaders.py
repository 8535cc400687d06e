from dataclasses import dataclass, field
from typing import NamedTuple


class Loader:
    def __init__(self, path, jobs=1):
        self.path = path

    def read(self, number, strict=False):
        return self.path * number

    @classmethod
    def empty(cls, jobs):
        return cls("", jobs)


class Cached(Loader):
    pass


@dataclass
class Options:
    size: int
    levels: int = 2
    tags: list = field(default_factory=list)


@dataclass
class MoreOptions(Options):
    name: str = ""


class Pair(NamedTuple):
    left: int
    right: int
    middle: int
