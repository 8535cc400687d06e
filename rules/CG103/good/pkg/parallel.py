def is_parallel():
    return True


def used_only_as_re_export():
    return 1


def looked_up_by_name():
    return 1
