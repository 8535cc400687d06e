def balance_load(ranks):
    return sum(ranks) / len(ranks)
