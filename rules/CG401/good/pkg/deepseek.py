import sys

IMAGE_PAD_ID = 129279
BLOCK_SIZE = 128
MAX_TOKENS = 4096
PADDING = 12345

if sys.platform == "win32":
    LIBRARY_NAME = "library-one.dll"
else:
    LIBRARY_NAME = "library-one.so"
NEG_INF = -3.0e38
NORM_EPS = 1e-6
NAMES_BY_KIND = {"a": "deepseek.a", "b": "deepseek.b", "c": "shared"}
COLUMNS_BY_ARCH = {"sm_100": 512, "sm_103": 512}
