deep = 1
