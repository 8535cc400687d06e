IMAGE_PAD_ID = 129279  # expect: CG401 pkg.deepseek:IMAGE_PAD_ID warning
MODEL_NAME = "org/Model-30"  # expect: CG401 pkg.deepseek:MODEL_NAME
