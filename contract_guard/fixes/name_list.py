"""The names of a `from` import: their order, and how many lines they take."""

from collections.abc import Iterable, Sequence

Pair = tuple[str, str | None]
"""A name and what it is bound as, None for itself."""


def sort_key(pair: Pair) -> tuple[int, str]:
    """The order of import sorters: constants, classes, then the rest."""
    name = pair[0]
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def is_sorted(pairs: Iterable[Pair]) -> bool:
    keys = [*map(sort_key, pairs)]
    return keys == sorted(keys)


def place_for(new: Pair, pairs: Sequence[Pair]) -> int:
    """Where one more name goes: in order where the others are, else last."""
    after = (at for at, pair in enumerate(pairs) if sort_key(pair) > sort_key(new))
    return next(after, len(pairs)) if is_sorted(pairs) else len(pairs)


def fitted(line: str, width: int) -> str:
    """A statement on one line, or in parentheses with a name a line where it does not fit."""
    if len(line) <= width:
        return line
    head, _, names = line.partition(" import ")
    return "\n".join(
        (f"{head} import (", *(f"    {name.strip()}," for name in names.split(",")), ")")
    )
