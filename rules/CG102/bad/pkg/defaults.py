from pkg.kinds import Kind

DEFAULT = Kind.ZEROTH  # expect: CG102 pkg.kinds:Kind.ZEROTH collection-error lost=1
