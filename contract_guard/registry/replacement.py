"""What took the place of a definition that is gone: the same code or value under another name, in
another place, or both."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from contract_guard.registry.contents import Definition

# How alike two names have to be, by `SequenceMatcher.ratio`, with how much else to go by.
_WITH_SAME_BODY = 0.3
_WITH_SAME_VALUE = 0.5
_WITH_SAME_SIGNATURE = 0.7
_ALONE = 0.85
_NEVER = 2.0
# Values that many names have.
_COMMON = frozenset({"None", "True", "False", "0", "1", "''", "()", "[]", "{}"})
_MODULES_ALIKE = 0.5
_NUMBER = re.compile(r"\d+")


class Replacements:
    """Looks among definitions that are new for one that replaces another. Each is given once."""

    def __init__(self, came: Iterable[Definition]) -> None:
        self._by_name: dict[str, list[Definition]] = {}
        self._by_owner: dict[str, list[Definition]] = {}
        self._taken: set[str] = set()
        for definition in came:
            self._by_name.setdefault(definition.name, []).append(definition)
            self._by_owner.setdefault(definition.owner, []).append(definition)

    def moved(self, gone: Definition) -> Definition | None:
        """The definition of the same name and kind in another module."""
        if "." in gone.symbol.partition(":")[2]:
            return None  # methods share names that say nothing
        candidates = [
            new
            for new in self._by_name.get(gone.name, ())
            if new.binding.kind == gone.binding.kind and new.owner != gone.owner
        ]
        same = [new for new in candidates if _is_same(gone, new)]
        if same:
            return same[0]
        return candidates[0] if len(candidates) == 1 else None

    def renamed(self, gone: Definition) -> Definition | None:
        """A new definition at the same place whose body, value or name is like the old one's."""
        best: tuple[float, Definition] | None = None
        for new in self._by_owner.get(gone.owner, ()):
            if new.binding.kind != gone.binding.kind or new.symbol in self._taken:
                continue
            ratio = SequenceMatcher(None, gone.name.lower(), new.name.lower()).ratio()
            surplus = ratio - _needed(gone, new)
            if surplus >= 0 and (best is None or surplus > best[0]):
                best = (surplus, new)
        if best is None:
            return None
        self._taken.add(best[1].symbol)
        return best[1]


def _neighbours(definition: Definition) -> tuple[str, str]:
    """The names bound before and after a definition in its module or class, "" at the ends."""
    module = definition.module
    qualname = definition.symbol.partition(":")[2].rpartition(".")[0]
    if qualname:
        bindings = [b for class_ in module.classes.get(qualname, ()) for b in class_.members]
    else:
        bindings = list(module.facts.bindings) if module.facts is not None else []
    place = next((i for i, b in enumerate(bindings) if b is definition.binding), -1)
    names = ["", *(binding.name for binding in bindings), ""]
    return (names[place], names[place + 2])


def _needed(gone: Definition, new: Definition) -> float:
    if gone.binding.body and gone.binding.body == new.binding.body:
        return _WITH_SAME_BODY
    if gone.value is not None and gone.value == new.value:
        # Members of a class often have common values: what an enumeration counts.
        is_telling = gone.value not in _COMMON or "." in gone.symbol.partition(":")[2]
        is_in_place = is_telling and _neighbours(gone) == _neighbours(new)
        return 0.0 if is_in_place else _WITH_SAME_VALUE
    signature = gone.binding.signature
    if signature is not None and signature.parameters and signature == new.binding.signature:
        return _WITH_SAME_SIGNATURE
    # Names that differ in a number are siblings.
    return _ALONE if _NUMBER.findall(gone.name) == _NUMBER.findall(new.name) else _NEVER


def _is_same(gone: Definition, new: Definition) -> bool:
    if gone.binding.body or new.binding.body:
        return gone.binding.body == new.binding.body
    return gone.binding.value is not None and gone.binding.value == new.binding.value


def module_replacement(
    gone: Sequence[Definition], came: Mapping[str, Sequence[Definition]]
) -> str | None:
    """The new module that defines most of what the old one did, by dotted name: of several, the
    one with most of its code."""
    old = {_identity(definition) for definition in gone} - {None}
    if not old:
        return None
    code = {_code(definition) for definition in gone}
    rank: dict[str, tuple[float, int, str]] = {}
    for name, definitions in came.items():
        new = {_identity(definition) for definition in definitions} - {None}
        alike = len(old & new) / len(old | new)
        if alike >= _MODULES_ALIKE:
            rank[name] = (alike, sum(_code(each) in code for each in definitions), name)
    return max(rank, key=rank.__getitem__, default=None)


def package_replacements(
    gone: Mapping[str, str | None], came: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Of the `gone` modules that have no replacement by what they define, those whose package
    moved as a whole: most of its modules that have one went below one other package."""
    homes: dict[str, Counter[str]] = {}
    for old, new in gone.items():
        parts = old.split(".")
        for depth in range(1, len(parts)) if new else ():
            package, rest = ".".join(parts[:depth]), ".".join(("", *parts[depth:]))
            # "" for one that has another name as well.
            home = new.removesuffix(rest) if new and new.endswith(rest) else ""
            homes.setdefault(package, Counter())[home] += 1
    moved: dict[str, str] = {}
    for package, counts in homes.items():
        home, count = counts.most_common(1)[0]
        if home and count * 2 > counts.total():
            moved[package] = home
    for module in gone:
        package, _, last = module.rpartition(".")
        home = moved.get(module) or (f"{moved[package]}.{last}" if package in moved else "")
        if gone[module] is None and home in came:
            yield module, home


def _identity(definition: Definition) -> tuple[str, str] | None:
    """What a definition is called in its module; None for what every module may have."""
    name = definition.symbol.partition(":")[2]
    return None if name.startswith("__") else (name, definition.binding.kind)


def _code(definition: Definition) -> tuple[object, object]:
    return _identity(definition), definition.binding.body or definition.value
