from .removed import helper  # expect: CG104 pkg.sub.removed collection-error lost=1
