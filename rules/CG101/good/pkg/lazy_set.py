_LAZY = frozenset({"decode_with_cache"})


def __getattr__(name):
    if name in _LAZY:
        from pkg import engine

        value = getattr(engine, name)
        globals()[name] = value
        return value
    raise AttributeError(name)
