MODEL_ID = "org/Other-70B-It"
