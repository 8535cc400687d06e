LIMIT = 5


def clamp(value):
    return min(value, LIMIT)
