from pkg.chain_b import *
