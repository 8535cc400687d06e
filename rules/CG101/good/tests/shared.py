shared_value = 1
injected = 2
named = 3


def assign(name, names):
    names[name] = 1
