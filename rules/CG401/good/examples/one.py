MODEL_ID = "org/Model-30B-A3B"
