"""Whether a consumer has followed a change: whether the code that names a symbol is other code
than before, and not only in a file that is otherwise changed."""

from collections.abc import Iterable, Iterator

from contract_guard.facts.model import Binding, ModuleFacts, Scope, Span
from contract_guard.registry.consumers import Consumption
from contract_guard.registry.index import Registry


def is_rewritten(old: Registry, new: Registry, place: Consumption) -> bool:
    """Whether, at `new`, the definitions that use what `place` names have changed since `old`:
    for an import, any of those that load the name."""
    before, after = old.tree.files.get(place.path), new.tree.files.get(place.path)
    if before is after:
        return False
    if not isinstance(before, ModuleFacts) or not isinstance(after, ModuleFacts):
        return True
    was, now = _definitions(before), _definitions(after)
    scopes = set(_scopes(after, place.form, place.span))
    around = {_definition(after.scopes, scope) for scope in scopes}
    if any(name and was.get(name) != now.get(name) for name in around):
        return True
    name = place.symbol.partition(":")[2] or place.symbol.rpartition(".")[2]
    return "" in around and _statements(before, name) != _statements(after, name)


def still_there(old: Registry, new: Registry, place: Consumption) -> Span | None:
    """Where the file at `new` writes the reference that stood at `place` at `old`, None where it
    does so no more, or fewer times."""
    before, after = old.tree.files.get(place.path), new.tree.files.get(place.path)
    if not isinstance(before, ModuleFacts) or not isinstance(after, ModuleFacts):
        return None
    was, now = list(_references(before)), list(_references(after))
    for text in {text for text, span in was if span[:2] == place.span[:2]}:
        earlier = sum(t == text and s[:2] < place.span[:2] for t, s in was)
        spans = sorted(span for t, span in now if t == text)
        if earlier < len(spans):
            return spans[earlier]
    return None


def _references(facts: ModuleFacts) -> Iterator[tuple[tuple[object, ...], Span]]:
    """References through imports, as they are written, with their places."""
    for imp in facts.imports:
        yield ("import", imp.module, imp.level, imp.name), imp.span
    for use in facts.uses:
        roots = tuple(
            (imp.module, imp.level, imp.name)
            for imp in (facts.imports[index] for index in use.imported)
        )
        yield ("use", roots, use.chain), use.span
    for patch in facts.patches:
        yield ("patch", patch.target, patch.attribute), patch.span


def _scopes(facts: ModuleFacts, form: str, span: Span) -> Iterable[int]:
    """The scopes that hang on the place."""
    if form == "import":
        for index, imp in enumerate(facts.imports):
            if imp.span == span:
                loading = [load.scope for load in facts.loads if index in load.imported]
                loading += [use.scope for use in facts.uses if index in use.imported]
                yield from loading or [imp.scope]
        return
    for use in facts.uses:
        if use.span[:2] == span[:2]:
            yield use.scope
    for patch in facts.patches:
        if patch.span == span:
            yield patch.scope


def _definition(scopes: tuple[Scope, ...], scope: int) -> str:
    """The outermost function around a scope, "" at module level or in a class body."""
    found = ""
    while scope > 0:
        if scopes[scope].kind == "function":
            found = scopes[scope].qualname
        scope = scopes[scope].parent
    return found


def _definitions(facts: ModuleFacts) -> dict[str, list[tuple[object, ...]]]:
    found: dict[str, list[tuple[object, ...]]] = {}
    for binding in facts.bindings:
        found.setdefault(binding.name, []).append(_code(binding))
    for class_ in facts.classes:
        owner = facts.scopes[class_.scope].qualname
        for member in class_.members:
            found.setdefault(f"{owner}.{member.name}", []).append(_code(member))
    return found


def _code(binding: Binding) -> tuple[object, ...]:
    return (binding.kind, binding.value, binding.body, binding.signature, binding.decorators)


def _statements(facts: ModuleFacts, name: str) -> list[tuple[object, ...]]:
    """What module and classes do with a name outside of functions."""
    last = name.rpartition(".")[2]
    members = [member for class_ in facts.classes for member in class_.members]
    bound: list[tuple[object, ...]] = [
        (binding.name, binding.value)
        for binding in (*facts.bindings, *members)
        if binding.value is not None and last in binding.value
    ]
    used: list[tuple[object, ...]] = [
        (use.chain, use.context)
        for use in facts.uses
        if last in use.chain and not _definition(facts.scopes, use.scope)
    ]
    tests: list[tuple[object, ...]] = [
        (test.qualname, test.cases, test.ids) for test in facts.pytest.tests
    ]
    return [*bound, *used, *tests]
