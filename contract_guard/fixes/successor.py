"""What took the place of a name that is gone, and from where others import it."""

from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

from contract_guard.facts.model import Binding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Knowledge, Safety
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change
from contract_guard.registry.successors import homes, single_home, single_module

# How much less alike a name may be and still be taken for the one that was meant.
_RIVAL = 0.2


class Successor(NamedTuple):
    """`symbol` of the definition (`package.module:NAME`), or a module's dotted name."""

    symbol: str
    safety: Safety

    @property
    def module(self) -> str:
        return self.symbol.partition(":")[0]

    @property
    def name(self) -> str:
        return self.symbol.partition(":")[2]


def successor(knowledge: Knowledge, symbol: str) -> Successor | None:
    """The replacement that a change knows, or the one other home of the name."""
    change = knowledge.changes.get(symbol)
    if change is not None and change.replacement is not None:
        new = change.replacement
        if new == symbol or knowledge.registry.resolve_symbol(new).status != "exists":
            return None
        if change.kind == "moved" and is_doubtful(knowledge, symbol, new):
            return None
        safety = _safety(knowledge, change, new)
        if safety == "unsafe" and _has_rival(knowledge, symbol, new):
            return None
        return Successor(new, safety)
    behind = knowledge.old.producer(symbol) if knowledge.old is not None else None
    if behind is None:
        home = single_home(knowledge.registry, symbol) if change is None else None
        return Successor(home, "safe") if home else None
    if behind.kind == "module" and ":" not in behind.symbol:
        moved = module_successor(knowledge, behind.symbol)
        parent, _, last = (moved.symbol if moved else "").rpartition(".")
        return Successor(f"{parent}:{last}", moved.safety) if moved and parent else None
    if behind.symbol == symbol or ":" not in behind.symbol:
        return _same_code(knowledge, symbol)
    # A module passed it on, and what stands behind it may still be there.
    here = knowledge.registry.producer(behind.symbol)
    if here is not None and ":" in here.symbol:
        return Successor(here.symbol, "safe")
    return successor(knowledge, behind.symbol)


def _same_code(knowledge: Knowledge, symbol: str) -> Successor | None:
    """The one other definition of the name that has the code of the one that went; or, unsafe, its
    value. None where it had a twin before: which of them took its place, nobody can say."""
    before = binding_of(knowledge.old, symbol)
    if before is None or has_twin(knowledge, symbol):
        return None
    found: list[Successor] = []
    for home in homes(knowledge.registry, symbol):
        after = binding_of(knowledge.registry, home)
        if after is None or after.kind != before.kind:
            continue
        if before.body and before.body == after.body:
            found.append(Successor(home, "safe"))
        is_new = binding_of(knowledge.old, home) is None
        if not before.body and is_new and before.value == after.value not in (None, "None"):
            found.append(Successor(home, "unsafe"))
    return found[0] if len(found) == 1 else None


def module_successor(knowledge: Knowledge, dotted: str) -> Successor | None:
    """The module that took the place of one."""
    change = knowledge.changes.get(dotted)
    if change is not None:
        return Successor(change.replacement, "safe") if change.replacement else None
    home = single_module(knowledge.registry, dotted)
    return Successor(home, "safe") if home else None


def _safety(knowledge: Knowledge, change: Change, new: str) -> Safety:
    """Safe: the same name, or the same code or value, and nothing else asked of its callers."""
    before = binding_of(knowledge.old, change.symbol)
    after = binding_of(knowledge.registry, new)
    if before is None or after is None:
        return "safe" if change.kind == "moved" else "unsafe"
    if before.signature != after.signature:
        return "unsafe"
    if change.kind == "moved":
        return "safe"
    same = before.body == after.body if before.body else before.value == after.value
    return "safe" if same and before.value != "None" else "unsafe"


def is_doubtful(knowledge: Knowledge, symbol: str, new: str) -> bool:
    """Whether a definition may have moved elsewhere than to `new`: another one of the name came
    with the change that has its code as much as `new` does, or another one with its code went."""
    if has_twin(knowledge, symbol, gone=True):
        return True
    before, chosen = binding_of(knowledge.old, symbol), binding_of(knowledge.registry, new)
    if before is None or chosen is None or knowledge.old is None:
        return False
    for home in homes(knowledge.registry, symbol):
        other = binding_of(knowledge.registry, home)
        if home == new or other is None or binding_of(knowledge.old, home) is not None:
            continue
        if chosen.body != before.body or other.body == before.body:
            return True
    return False


def has_twin(knowledge: Knowledge, symbol: str, *, gone: bool = False) -> bool:
    """Whether another definition of the name had the same code at the older revision; with `gone`,
    one that went as well."""
    before = binding_of(knowledge.old, symbol)
    if before is None or not before.body or knowledge.old is None:
        return False
    for home in homes(knowledge.old, symbol):
        twin = binding_of(knowledge.old, home)
        is_same = twin is not None and twin.body == before.body
        if is_same and not (gone and knowledge.registry.producer(home)):
            return True
    return False


def _has_rival(knowledge: Knowledge, symbol: str, new: str) -> bool:
    """Whether another new definition of the same owner is called much like the one that went."""
    owner, _, name = symbol.partition(":")
    new_owner, _, new_name = new.partition(":")
    if owner != new_owner or "." in name or "." in new_name or knowledge.old is None:
        return False
    chosen = binding_of(knowledge.registry, new)
    best = _alike(name, new_name)
    return any(
        other not in (name, new_name)
        and chosen is not None
        and bindings[-1].kind == chosen.kind
        and binding_of(knowledge.old, f"{owner}:{other}") is None
        and _alike(name, other) >= best - _RIVAL
        for module in knowledge.registry.modules.named(owner)
        for other, bindings in module.bindings.items()
    )


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def binding_of(registry: Registry | None, symbol: str) -> Binding | None:
    """The last statement that binds a symbol in its module or class."""
    module, _, name = symbol.partition(":")
    modules = registry.modules.named(module) if registry is not None else ()
    for each in modules:
        owner, _, last = name.rpartition(".")
        if not owner:
            bindings = each.bindings.get(name, [])
        else:
            members = (m for class_ in each.classes.get(owner, ()) for m in class_.members)
            bindings = [member for member in members if member.name == last]
        if bindings:
            return bindings[-1]
    return None


def import_place(knowledge: Knowledge, file: File, symbol: str) -> str:
    """The module from which a file takes a definition: one from which it takes other names
    already, else the one from which most other files take it, else where it is defined."""
    registry = knowledge.registry
    own, _, name = symbol.partition(":")
    name = name.partition(".")[0]
    near = [
        i.module for i in file.facts.imports if i.form == "from" and not i.level and not i.scope
    ]
    for module in dict.fromkeys([own, *near] if own in near else near):
        producer = registry.producer(f"{module}:{name}")
        if producer is not None and producer.symbol == symbol and _offers(registry, module, own):
            return module
    counts: Counter[str] = Counter()
    for path, facts in registry.facts():
        if path.endswith("__init__.py"):
            continue  # passes it on
        for imp in facts.imports:
            if imp.name == name and imp.form == "from":
                found = registry.resolve_import(path, imp)
                if found.producer is not None and found.producer.symbol == symbol:
                    module = found.symbol.partition(":")[0]
                    counts[module] += _offers(registry, module, own)
    counts = +counts
    if not counts:
        return own
    return min(counts, key=lambda module: (-counts[module], module != own, module))


def passes_on(registry: Registry, module: str, symbol: str) -> bool:
    """Whether a module has a definition for others to take, under the name that it has."""
    own, _, name = symbol.partition(":")
    producer = registry.producer(f"{module}:{name.partition('.')[0]}") if module != own else None
    whole = f"{own}:{name.partition('.')[0]}"
    is_there = module == own or (producer is not None and producer.symbol == whole)
    return is_there and _offers(registry, module, own)


def _offers(registry: Registry, module: str, own: str) -> bool:
    """Whether a module has a name for others to take: it defines it, or is a package that passes
    it on, and no module that only uses it."""
    named = registry.modules.named(module)
    return module == own or any(each.path.endswith("__init__.py") for each in named)


def must_exist(knowledge: Knowledge, symbol: str) -> Successor:
    """The successor of a name. Raises CannotFix where nothing is certain to be one."""
    found = successor(knowledge, symbol)
    if found is None:
        raise CannotFix("nothing is certain to have taken its place")
    return found
