def bucket_size(tokens, block):
    rounded = (tokens + block - 1) // block * block
    return rounded * 1.25 + tokens % 96 + block % 64
