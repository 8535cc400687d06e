from pkg.decode import Wrapper
