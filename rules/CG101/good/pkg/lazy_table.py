from typing import TYPE_CHECKING

TABLE = {"Engine": ".engine:Engine", "Params": ".engine:Params"}

if TYPE_CHECKING:
    from pkg.engine import Engine, Params
else:

    def __getattr__(name):
        from importlib import import_module

        if name in TABLE:
            module, attribute = TABLE[name].split(":")
            return getattr(import_module(module, __package__), attribute)
        raise AttributeError(name)
