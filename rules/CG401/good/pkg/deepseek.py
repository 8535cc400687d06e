import sys

IMAGE_PAD_ID = 129279
BLOCK_SIZE = 128
MAX_TOKENS = 4096
PADDING = 12345

if sys.platform == "win32":
    LIBRARY_NAME = "library-one.dll"
else:
    LIBRARY_NAME = "library-one.so"
