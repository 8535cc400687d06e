def broken(:  # expect: CG903 pkg/broken.py
    pass
