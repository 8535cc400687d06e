from pkg.deepseek import IMAGE_PAD_ID

BLOCK_SIZE = 64
MAX_TOKENS = 8192
PADDING = 54321
LIBRARY_NAME = "library-two.so"
PADS = (IMAGE_PAD_ID,)
