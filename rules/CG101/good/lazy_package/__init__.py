import importlib

_submodules = ["selection"]


def __getattr__(name):
    if name in _submodules:
        return importlib.import_module(f"lazy_package.{name}")
    raise AttributeError(name)
