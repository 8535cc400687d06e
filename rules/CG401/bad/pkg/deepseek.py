IMAGE_PAD_ID = 129279  # expect: CG401 pkg.deepseek:IMAGE_PAD_ID warning
MODEL_NAME = "org/Model-30"  # expect: CG401 pkg.deepseek:MODEL_NAME
NEG_INF = -3.0e38  # expect: CG401 pkg.deepseek:NEG_INF
COLUMNS_BY_ARCH = {"sm_100": 512, "sm_103": 512, "sm_107": 576}  # expect: CG401 pkg.deepseek:COLUMNS_BY_ARCH
