import typing

if typing.TYPE_CHECKING:
    from lazy_package.selection._experimental import Halving
