SENTINEL = 128815
BLOCK_SIZE = 16

retired = 1
del retired
