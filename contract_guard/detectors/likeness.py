"""Whether a name may be another one's new name, told by the two alone.

Most names that look alike are siblings (`get_width`, `get_height`; `FP8`, `NVFP4`): where it is not
plain, the answer is no.
"""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ALIKE = 0.75  # `SequenceMatcher.ratio` of two spellings of a word
_LONG = 4  # letters of a word that is more than a mark of one sibling among several
_SHARED = 6  # letters that two names have in common where one has a word more
_AT_MOST = 2


def may_be_renamed(name: str, other: str) -> bool:
    """The same words, but for one that is spelled or cut differently, or that one of them has
    more. Numbers are the same."""
    one, two = ([word.lower() for word in _WORD.findall(each)] for each in (name, other))
    if "".join(one) == "".join(two):
        return True
    shared = [word for word in one if word in two]
    gone = [word for word in one if word not in shared]
    came = [word for word in two if word not in shared]
    if any(word.isdigit() for word in (*gone, *came)) or len(gone) > 1 or len(came) > 1:
        return False
    if gone and came:
        return _is_alike(gone[0], came[0])
    extra = (gone or came or [""])[0]
    return not extra or (len(extra) >= _LONG and sum(map(len, shared)) >= _SHARED)


def renamed(name: str, others: Iterable[str]) -> list[str]:
    """Those of `others` that may be the new name; [] where so many may that none is meant."""
    found = sorted(other for other in set(others) if may_be_renamed(name, other))
    return found if len(found) <= _AT_MOST else []


def _is_alike(one: str, two: str) -> bool:
    if min(len(one), len(two)) < _LONG:
        short, long = sorted((one, two), key=len)
        return len(short) > 2 and long.startswith(short)
    return SequenceMatcher(None, one, two).ratio() >= _ALIKE or one in two or two in one
