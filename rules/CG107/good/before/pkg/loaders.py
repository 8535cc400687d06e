import functools
from dataclasses import dataclass
from enum import Enum


class Loader:
    def __init__(self, path, workers=1):
        self.path = path

    def read(self, count):
        return self.path * count

    def follow(self, count):
        return self.read(count)

    def fetch(self, count):
        return self.path * count


class Other(Loader):
    def read(self, count):
        return count

    def fetch(self, count):
        return self.path * count


class Wrapped:
    @functools.wraps(Loader.__init__)
    def __init__(self, path, workers=1):
        self.path = path


class Made:
    def __new__(cls, *arguments, **options):
        return object.__new__(Made)

    def __init__(self, path=None):
        self.path = path


class Colour(Enum):
    RED = 1

    def __init__(self, number):
        self.number = number


@dataclass
class Options:
    size: int
    depth: int = 2


@dataclass(init=False)
class Empty:
    size: int = 1


class Handed:
    def __init__(self, workers=1):
        self.workers = workers
