import dataclasses
import enum


@dataclasses.dataclass
class Config:
    size: int = 1


class Kind(enum.Enum):
    A = 1


class OpenMeta(type):
    def __getattr__(cls, name):
        return name


class Open(metaclass=OpenMeta):
    pass


def make_fleet():
    return object()
