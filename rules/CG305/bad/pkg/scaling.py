CALLS = []


def scale(values, factor=2, *, limit=None):
    CALLS.append(factor)
    return [min(v * factor, limit or v * factor) for v in values]


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, values):
        return scale(values, self.factor)


def reset():
    CALLS.clear()
