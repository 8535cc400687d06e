from pkg import decode

KINDS = {"old": decode.OldWrapper}  # expect: CG102 pkg.decode:OldWrapper collection-error lost=1
