import sys
from types import ModuleType


class LazyModule(ModuleType):
    def __getattr__(self, name):
        return name


sys.modules[__name__] = LazyModule(__name__)
