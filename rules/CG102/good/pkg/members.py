"""Classes that get attributes in ways that their bodies do not show."""

import dataclasses
import enum
import typing

from somewhere import Model, traced


class StoredBelow: ...


StoredBelow.stored = 1


class ByType:
    def fill(self):
        type(self).by_type = 1
        self.__class__.by_class = 2


def fill(cls):
    cls.given = 1
    setattr(cls, "".join("computed"), 2)


class Filled: ...


fill(Filled)


class Looped: ...


for each in (Looped,):
    setattr(each, "".join("computed"), 3)


class Registering:
    def __init_subclass__(cls):
        fill(cls)


class Registered(Registering): ...


class Row(typing.NamedTuple):
    first: int


@dataclasses.dataclass
class Fields:
    size: int = 1
    made: list = dataclasses.field(default_factory=list)


class Value:
    own = 1


class Values(enum.Enum):
    FIRST = Value


class Unknown(Model): ...


@traced
class Traced: ...


class Outer:
    class Inner: ...

    Inner.late = 1
