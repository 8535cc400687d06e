_LIMIT = 5
LIMIT = _LIMIT


def _helper():
    return _LIMIT
