"""`contracts.lock`: the contracts that a project keeps in its repository, and how the code of today
differs from them.

The text is made for merging: a block a contract, sorted, a line a consumer, an empty line between
blocks, and nothing that counts or sums up.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from contract_guard.facts.model import ModuleFacts, Signature
from contract_guard.registry.consumers import Consumption, consumers_of_any
from contract_guard.registry.contents import value_text
from contract_guard.registry.index import Registry
from contract_guard.registry.risk import is_constant_name
from contract_guard.text import is_newer

VERSION = 1
_HEADER = f"# contracts.lock {VERSION}: written by `contract-guard registry update`, not by hand"
_HEADER_START = "# contracts.lock "
_REPAIR = "`contract-guard registry update` writes it anew"
_FORMS = frozenset({"import", "attribute", "patch", "assignment"})


class LockError(Exception):
    """The text is no lock that this version can read; the message says why and what to do."""


class Locked(NamedTuple):
    """A contract: `value` is Python literal text of a constant, or the parameters of a function,
    "" where neither can be told. `consumers` are (path, form), sorted, each once."""

    symbol: str
    value: str
    consumers: tuple[tuple[str, str], ...]


class Difference(NamedTuple):
    """`path` and `line` is where it shows: the consumer, or the producer; `line` is 0 where only
    the lock has it. `was` and `now` are values."""

    kind: Literal["unregistered", "stale", "changed", "removed"]
    symbol: str
    path: str
    line: int
    form: str = ""
    was: str = ""
    now: str = ""


def contracts(registry: Registry, patterns: Sequence[str] = ()) -> dict[str, Locked]:
    """The contracts that are to be locked, by symbol.

    `patterns` are globs of symbols (`gate.constants:*`). Without any: public constants that tests,
    or other top-level packages, name.
    """
    return {
        symbol: Locked(
            symbol,
            _value(registry, symbol),
            tuple(sorted({(c.path, c.form) for c in consumed})),
        )
        for symbol, consumed in sorted(places(registry, patterns).items())
    }


def places(registry: Registry, patterns: Sequence[str]) -> dict[str, list[Consumption]]:
    """The consumers of each contract that is to be locked, by symbol."""
    names = set(_candidates(registry, patterns))
    found: dict[str, list[Consumption]] = {}
    for place in consumers_of_any(registry, names):
        producer = place.producer
        if producer.origin or producer.kind == "module":
            continue
        symbol = producer.symbol
        if patterns:
            is_meant = any(fnmatch.fnmatchcase(symbol, pattern) for pattern in patterns)
        else:
            is_meant = producer.kind == "assign" and not registry.layout.is_test(producer.path)
        if is_meant and (patterns or _crosses(registry, place)):
            found.setdefault(symbol, []).append(place)
    return found


def _candidates(registry: Registry, patterns: Sequence[str]) -> Iterator[str]:
    """Own names of what may be meant."""
    for path, facts in registry.facts():
        module = registry.module(path).name
        members = [
            (b, f"{facts.scopes[c.scope].qualname}.") for c in facts.classes for b in c.members
        ]
        for binding, owner in (*((b, "") for b in facts.bindings), *members):
            if binding.kind in ("import", "del", "annotation"):
                continue
            if patterns:
                symbol = f"{module}:{owner}{binding.name}"
                if any(fnmatch.fnmatchcase(symbol, pattern) for pattern in patterns):
                    yield binding.name
            elif not owner and is_constant_name(binding.name) and not binding.name.startswith("_"):
                yield binding.name


def _crosses(registry: Registry, place: Consumption) -> bool:
    if registry.layout.is_test(place.path):
        return True
    here = registry.module(place.path).name.partition(".")[0]
    return here != place.producer.symbol.partition(":")[0].partition(".")[0]


def _value(registry: Registry, symbol: str) -> str:
    value = value_text(registry, symbol)
    if value is not None:
        return value if value.isprintable() else ascii(value)
    producer = registry.producer(symbol)
    facts = registry.tree.files.get(producer.path) if producer is not None else None
    if producer is None or not isinstance(facts, ModuleFacts):
        return ""
    for binding in (*facts.bindings, *(m for c in facts.classes for m in c.members)):
        if binding.span == producer.span and binding.signature is not None:
            return _parameters(binding.signature)
    return ""


def _parameters(signature: Signature) -> str:
    stars = {"var-positional": "*", "var-keyword": "**"}
    parts: list[str] = []
    is_keyword = False
    for parameter in signature.parameters:
        if parameter.kind == "keyword-only" and not is_keyword:
            is_keyword = True
            if not any(part.startswith("*") for part in parts):
                parts.append("*")
        default = "" if parameter.default is None else f"={' '.join(parameter.default.split())}"
        parts.append(f"{stars.get(parameter.kind, '')}{parameter.name}{default}")
    positional = [p for p in signature.parameters if p.kind == "positional-only"]
    if positional:
        parts.insert(len(positional), "/")
    return f"({', '.join(parts)})"


def dump(locked: Iterable[Locked]) -> str:
    """The text of the lock."""
    blocks = [_HEADER]
    for contract in sorted(locked):
        lines = [contract.symbol]
        if contract.value:
            lines.append(f"  = {contract.value}")
        lines += [f"  {form} {path}" for path, form in contract.consumers]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def parse(text: str) -> dict[str, Locked]:
    """The contracts of a lock, by symbol. Raises LockError."""
    lines = text.split("\n")
    if any(line.startswith(("<<<<<<<", "=======", ">>>>>>>")) for line in lines):
        raise LockError(f"it has conflict markers: settle the code, then {_REPAIR}")
    if not lines[0].startswith(_HEADER_START):
        raise LockError(f"its first line is not `{_HEADER_START}...`: {_REPAIR}")
    version = lines[0].removeprefix(_HEADER_START).partition(":")[0]
    if is_newer(version, VERSION):
        raise LockError(
            f"it has version {version[:20]}, and this program knows {VERSION}: upgrade it"
        )
    found: dict[str, Locked] = {}
    for number, block in _blocks(lines[1:]):
        contract = _contract(number, block)
        if contract.symbol in found:
            raise LockError(f"line {number}: `{contract.symbol}` stands there twice: {_REPAIR}")
        found[contract.symbol] = contract
    if dump(found.values()) != text.rstrip("\n") + "\n":
        raise LockError(f"it was edited by hand (order or layout): {_REPAIR}")
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for number, line in enumerate((*lines, ""), start=2):
        if line:
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _contract(number: int, block: Sequence[str]) -> Locked:
    symbol, *rest = block
    if symbol.startswith(" ") or ":" not in symbol:
        raise LockError(f"line {number}: `{symbol}` is no symbol: {_REPAIR}")
    value = ""
    if rest and rest[0].startswith("  = "):
        value = rest.pop(0).removeprefix("  = ")
        if value != value.strip():
            raise LockError(f"line {number + 1}: it was edited by hand (layout): {_REPAIR}")
    consumers: list[tuple[str, str]] = []
    for line in rest:
        form, _, path = line.strip().partition(" ")
        if form not in _FORMS or not path:
            raise LockError(f"line {number}: `{line.strip()}` is no consumer: {_REPAIR}")
        consumers.append((path, form))
    return Locked(symbol, value, tuple(consumers))


def differences(
    registry: Registry, locked: dict[str, Locked], patterns: Sequence[str] = ()
) -> Iterator[Difference]:
    """What the code says otherwise than the lock, in order of symbol."""
    consumed = places(registry, patterns)
    for symbol in sorted({*locked, *consumed}):
        here = consumed.get(symbol, [])
        contract = locked.get(symbol)
        known = set(contract.consumers) if contract is not None else set[tuple[str, str]]()
        seen: set[tuple[str, str]] = set()
        for place in here:
            key = (place.path, place.form)
            if key not in known and key not in seen:
                yield Difference("unregistered", symbol, place.path, place.span.line, place.form)
            seen.add(key)
        if contract is None:
            continue
        producer = registry.producer(symbol)
        if producer is None:
            if registry.resolve_symbol(symbol).status == "missing":
                yield Difference("removed", symbol, _first(contract), 0, was=contract.value)
            continue
        now = _value(registry, symbol)
        if now != contract.value:
            line = producer.span.line
            yield Difference("changed", symbol, producer.path, line, was=contract.value, now=now)
        for path, form in sorted(known - seen):
            yield Difference("stale", symbol, path, 0, form)


def _first(contract: Locked) -> str:
    return contract.consumers[0][0] if contract.consumers else ""
