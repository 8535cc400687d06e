BOUND = 5  # expect: CG504 pkg.constants:LIMIT
