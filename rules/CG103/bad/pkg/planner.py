from pkg.balance import balance_load


def plan(ranks):
    return [balance_load(ranks)] * len(ranks)
