from pkg.deepseek import IMAGE_PAD_ID

BLOCK_SIZE = 64
MAX_TOKENS = 8192
PADDING = 54321
LIBRARY_NAME = "library-two.so"
PADS = (IMAGE_PAD_ID,)
NEG_INF = -3.0e38
NORM_EPS = 1e-5
NAMES_BY_KIND = {"a": "qwen.a", "b": "qwen.b", "c": "shared"}
COLUMNS_BY_ARCH = {"sm_100": 512, "sm_103": 512}
