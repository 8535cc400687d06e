"""What all facts are made of."""

from typing import NamedTuple

import msgspec


class Span(NamedTuple):
    """A range of source: lines and columns from 1, columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Fact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Holds no cycles: what nobody refers to is freed at once, unseen by the collector."""
