def shadowed():
    return 1
