from pkg.constants import *

__all__ = ["SENTINEL"]
