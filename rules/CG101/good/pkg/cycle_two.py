from pkg.cycle_one import first

second = first + 1
