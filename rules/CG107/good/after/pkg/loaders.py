import functools
from dataclasses import dataclass
from enum import Enum


class Loader:
    def __init__(self, path, jobs=1):
        self.path = path

    def read(self, number):
        return self.path * number

    def follow(self, count):
        return self.read(count)

    def fetch(self, number):
        return self.path * number


class Other(Loader):
    def read(self, number):
        return number

    def fetch(self, count):
        return self.path * count


class Wrapped:
    @functools.wraps(Loader.__init__)
    def __init__(self, path, jobs=1):
        self.path = path


class Made:
    def __new__(cls, *arguments, **options):
        return object.__new__(Made)

    def __init__(self, place=None):
        self.path = place


class Colour(Enum):
    RED = 1

    def __init__(self, number, text=""):
        self.number = number


@dataclass
class Options:
    size: int
    depth: int = 2
    levels: int = 3


@dataclass(init=False)
class Empty:
    length: int = 1


class Handed:
    def __init__(self, jobs=1):
        self.jobs = jobs
