import sys

_module = sys.modules[__name__]
for _name in ("north", "south"):
    setattr(_module, _name, 1)
setattr(sys.modules[__name__], "east", 2)
globals()["west"] = 3
