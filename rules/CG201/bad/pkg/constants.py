SENTINEL = 128815
SIZES: tuple[int, ...] = (1, 2)
