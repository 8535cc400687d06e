def is_parallel():
    return True


def all_to_all():
    return 1
