import os
import threading

import outside
from pkg import parallel
from pkg.parallel import is_parallel, looked_up_by_name, used_only_as_re_export

TABLE = {}


class Base:
    def start(self):
        return is_parallel()


class Worker(Base):
    def __init__(self):
        self.handle = None

    def run(self):
        return self.start()


class FromOutside(outside.Base):
    pass


class Made(metaclass=outside.Meta):
    pass


@outside.register
class Decorated:
    pass


class OpenMeta(type):
    def __getattr__(cls, name):
        return name


class Open(metaclass=OpenMeta):
    pass


def find(name):
    return globals()["looked_up_by_name"]
