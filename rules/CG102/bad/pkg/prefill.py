import pkg.decode


def prefill():
    return pkg.decode.Prefill()  # expect: CG102 pkg.decode:Prefill runtime-error
