try:
    from pkg.engine import FastEngine  # expect: CG105 pkg.engine:FastEngine silent
except ImportError:
    FastEngine = None
