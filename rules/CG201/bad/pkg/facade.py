from pkg.constants import SENTINEL
