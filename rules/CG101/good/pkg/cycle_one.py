first = 1

from pkg.cycle_two import second
