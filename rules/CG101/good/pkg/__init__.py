from pkg._version import version as __version__
from pkg.chain_a import deep

__all__ = ["deep", "submodule"]
