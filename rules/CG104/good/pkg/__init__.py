from .__version__ import __version__

try:
    from pkg._fast import speedups
except ImportError:
    speedups = None
