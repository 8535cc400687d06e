from pkg.constants import SENTINEL

OFFSET = SENTINEL + 1
