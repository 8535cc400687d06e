from dataclasses import dataclass, field
from typing import NamedTuple


class Loader:
    def __init__(self, path, workers=1):
        self.path = path

    def read(self, count, strict=False):
        return self.path * count

    @classmethod
    def empty(cls, workers):
        return cls("", workers)


class Cached(Loader):
    pass


@dataclass
class Options:
    size: int
    depth: int = 2
    tags: list = field(default_factory=list)


@dataclass
class MoreOptions(Options):
    name: str = ""


class Pair(NamedTuple):
    left: int
    right: int
