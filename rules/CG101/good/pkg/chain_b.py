from .chain_c import deep as deep

_hidden = 1
