"""Which callers of a function no longer fit its signature. Facts do not hold the arguments of every
call, so the files that name the function are parsed again."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from contract_guard.detectors.statement import decode
from contract_guard.facts.model import ModuleFacts, Signature
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, Consumer
from contract_guard.registry.signatures import misfit


def only_misfits(
    changes: Iterable[Change], old: Registry, new: Registry, read: Callable[[str], bytes]
) -> list[Change]:
    """The changes, those of signatures with the calls alone that were right for the old signature
    and raise TypeError with the new one, and without those that no call minds."""
    kept: list[Change] = []
    for change in changes:
        if change.kind != "signature-changed":
            kept.append(change)
            continue
        before, after = signature_of(old, change.symbol), signature_of(new, change.symbol)
        if before is not None and after is not None:
            places = tuple(_misfits(change.consumers, before, after, change.symbol, new, read))
            if places:
                kept.append(msgspec.structs.replace(change, consumers=places))
    return kept


def signature_of(registry: Registry, symbol: str) -> Signature | None:
    """The parameters of a function that a module defines once, without decorators; None for
    anything else."""
    dotted, _, name = symbol.partition(":")
    for module in registry.modules.named(dotted)[:1]:
        bindings = module.bindings.get(name, [])
        if len(bindings) == 1 and not bindings[0].decorators and bindings[0].guard < 0:
            return bindings[0].signature
    return None


def _misfits(
    consumers: Sequence[Consumer],
    before: Signature,
    after: Signature,
    symbol: str,
    registry: Registry,
    read: Callable[[str], bytes],
) -> Iterator[Consumer]:
    name = symbol.rpartition(":")[2]
    for path in sorted({c.path for c in consumers if c.form in ("import", "attribute")}):
        facts = registry.tree.files.get(path)
        if not isinstance(facts, ModuleFacts):
            continue
        tree = ast.parse(decode(read(path)))
        lines = set(_called_attributes(facts, name, symbol, registry, path))
        names = _bound_names(facts, name, symbol, registry, path) - _rebound(tree)
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not _is_plain(call):
                continue
            function = call.func
            is_meant = (isinstance(function, ast.Name) and function.id in names) or (
                isinstance(function, ast.Attribute)
                and function.attr == name
                and (function.lineno, function.end_lineno) in lines
            )
            if is_meant and _breaks(call, before, after):
                yield Consumer(
                    path=path,
                    line=call.lineno,
                    form="import" if isinstance(function, ast.Name) else "attribute",
                    test=_test_at(registry, path, facts, call.lineno),
                    impact="runtime-error",
                )


def _called_attributes(
    facts: ModuleFacts, name: str, symbol: str, registry: Registry, path: str
) -> Iterator[tuple[int, int]]:
    for use in facts.uses:
        if use.called and use.chain and use.chain[-1] == name:
            found = registry.resolve_use(path, use).producer
            if found is not None and found.symbol == symbol:
                yield use.span.line, use.span.end_line


def _bound_names(
    facts: ModuleFacts, name: str, symbol: str, registry: Registry, path: str
) -> set[str]:
    found: set[str] = set()
    for imp in facts.imports:
        if imp.name == name and imp.bound:
            producer = registry.resolve_import(path, imp).producer
            if producer is not None and producer.symbol == symbol:
                found.add(imp.bound)
    return found


def _rebound(tree: ast.Module) -> set[str]:
    """Names that anything but an import binds somewhere in the file."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


def _is_plain(call: ast.Call) -> bool:
    return not any(isinstance(argument, ast.Starred) for argument in call.args) and all(
        keyword.arg is not None for keyword in call.keywords
    )


def _breaks(call: ast.Call, before: Signature, after: Signature) -> bool:
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    number = len(call.args)
    return (
        misfit(before, number, keywords, bound=False) is None
        and misfit(after, number, keywords, bound=False) is not None
    )


def _test_at(registry: Registry, path: str, facts: ModuleFacts, line: int) -> str | None:
    for test in facts.pytest.tests:
        span = facts.scopes[test.scope].span
        if span.line <= line <= span.end_line:
            return registry.test_at(path, test.scope)
    return None
