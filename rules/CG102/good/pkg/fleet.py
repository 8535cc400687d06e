import dataclasses
import enum


@dataclasses.dataclass
class Config:
    size: int = 1


class Kind(enum.Enum):
    A = 1


class Open:
    def __getattr__(self, name):
        return name


def make_fleet():
    return object()
