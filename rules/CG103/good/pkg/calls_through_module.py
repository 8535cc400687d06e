from pkg import parallel


def call():
    return parallel.registered()
