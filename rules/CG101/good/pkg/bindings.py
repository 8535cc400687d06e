import contextlib
import platform
import sys

if sys.version_info >= (3, 12):
    newer = 1
else:
    older = 1

if platform.system() == "Linux":
    linux_only = 1

try:
    import fast_json as json_module
except ImportError:
    json_module = None

for looped in range(3):
    inner_loop = looped

with contextlib.nullcontext(1) as opened:
    pass

if (walrus := len(sys.argv)) > 1000:
    pass

[comprehension_walrus := item for item in range(3)]

match sys.platform:
    case "linux":
        matched = 1
    case other_platform:
        matched = 2

first, (second, *rest) = 1, (2, 3, 4)

annotated: int = 1

removed_for_a_while = 1
del removed_for_a_while
removed_for_a_while = 2

if sys.argv:
    del annotated


def set_global():
    global made_global
    made_global = 1


set_global()

try:
    raise ValueError
except ValueError as caught:
    kept = caught

type_alias = int | str
