LIMIT = 6  # expect: CG503 pkg.constants:LIMIT
