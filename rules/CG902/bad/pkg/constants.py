PAD = 1
