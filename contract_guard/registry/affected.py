"""Which files a change can break: those that it touches, and those that mention a name whose
definition it touches. Asking the others again would give the old answers."""

from collections.abc import Collection, Iterator, Set

from contract_guard.facts.model import Binding, ModuleFacts, Unreadable
from contract_guard.registry.layout import is_below, is_conftest, parent
from contract_guard.registry.model import Tree

# What one of these holds concerns the files beside and below it.
LAYOUT_FILES = frozenset({"__init__.py", "__init__.pyi", "conftest.py"})


def affected_paths(old: Tree, new: Tree, changed: Collection[str]) -> frozenset[str] | None:
    """The files of `new` in which another reference may be broken than in `old`, given the paths
    that differ. None where it may be any file: the change touches how modules are found, or a
    module of which the names cannot be listed."""
    settings = ("compiled", "hints", "roots", "pythonpath", "nested_pythonpath", "test_patterns")
    settings += ("dynamic_names",)
    if any(getattr(old, name) != getattr(new, name) for name in settings) or new.former:
        return None
    directories = {parent(path) for path in old.files} ^ {parent(path) for path in new.files}
    if directories:
        return None
    names: set[str] = set()
    read: set[str] = set()
    imported: set[str] = set()
    for path in changed:
        before, after = old.files.get(path), new.files.get(path)
        if isinstance(before, Unreadable) or isinstance(after, Unreadable):
            return None
        if before is None or after is None:
            name = path.rpartition("/")[2]
            if name in LAYOUT_FILES:
                return None
            names.add(name.partition(".")[0])
        if _openness(before) != _openness(after) or _other_classes(before, after):
            return None
        names |= _names(_definitions(before) ^ _definitions(after))
        read |= _names(_readings(before) ^ _readings(after))
        imported |= _imported(before) ^ _imported(after)
    found = {
        path
        for path, facts in new.files.items()
        if path in changed
        or (
            isinstance(facts, ModuleFacts)
            and (_mentions(facts, names, read) or _calls_own(facts, imported))
        )
    }
    return frozenset(found | set(_below_conftests(new, found, names)))


def _openness(facts: ModuleFacts | None) -> tuple[object, ...]:
    """What makes names of a module known or unknown beside the statements that bind them."""
    if facts is None:
        return (None, False, (), (), [], True, False)
    stars = [(imp.module, imp.level, imp.scope) for imp in facts.imports if imp.name == "*"]
    return (
        facts.dynamic,
        facts.getattr_open,
        facts.submodule_stubs,
        facts.added_names,
        stars,
        facts.exports_exact,
        "__path__" in facts.loaded_names,
    )


def _other_classes(before: ModuleFacts | None, after: ModuleFacts | None) -> bool:
    """Whether a class that stayed takes its attributes from elsewhere than before."""
    if before is None or after is None:
        return False
    was = {c.name: (c.bases, c.metaclass, c.dynamic, c.decorators) for c in before.classes}
    return any(
        c.name in was and was[c.name] != (c.bases, c.metaclass, c.dynamic, c.decorators)
        for c in after.classes
    )


def _names(statements: Set[tuple[object, ...]]) -> set[str]:
    return {str(name) for name, *_ in statements} - {""}


def _definitions(facts: ModuleFacts | None) -> set[tuple[object, ...]]:
    """What gives a name its meaning, with the name first."""
    return set(_defining(facts)) if facts is not None else set()


def _defining(facts: ModuleFacts) -> Iterator[tuple[object, ...]]:
    for binding in facts.bindings:
        yield (binding.name, *_binding(facts, binding))
    for class_ in facts.classes:
        owner = facts.scopes[class_.scope].qualname
        for member in class_.members:
            yield (member.name, owner, *_binding(facts, member))
        for name in class_.self_attributes:
            yield (name, owner)
    for name in facts.stored_attributes:
        yield (name, "set")
    for name in (*facts.getattr_names, *(facts.exports or ())):
        yield (name, "served")
    for use in facts.uses:
        if use.context != "load":
            yield (use.chain[-1], "stored")
    for patch in facts.patches:
        if patch.form == "setattr" or patch.create or not patch.raising:
            yield ((patch.attribute or patch.target).rpartition(".")[2], "stored")
    for fixture in facts.pytest.fixtures:
        yield (fixture.name, "fixture", fixture.class_name)


def _readings(facts: ModuleFacts | None) -> set[tuple[object, ...]]:
    """Who reads which name, and takes it from where: a patch of what nobody reads is without
    effect."""
    if facts is None:
        return set()
    found: set[tuple[object, ...]] = {(name,) for name in facts.loaded_names}
    found.update((imp.name or "", imp.module, imp.level) for imp in facts.imports)
    return found


def _imported(facts: ModuleFacts | None) -> set[str]:
    return {imp.name for imp in facts.imports if imp.name} if facts is not None else set()


def _binding(facts: ModuleFacts, binding: Binding) -> tuple[object, ...]:
    source = None
    if binding.imported >= 0:
        imp = facts.imports[binding.imported]
        source = (imp.module, imp.level, imp.name)
    guards: list[tuple[str, str, bool]] = []
    guard = binding.guard
    while guard >= 0:
        found = facts.guards[guard]
        guards.append((found.kind, found.text, found.negated))
        guard = found.parent
    return (binding.kind, binding.value, source, tuple(guards))


def _mentions(facts: ModuleFacts, names: Set[str], read: Set[str]) -> bool:
    """Whether any reference of the file goes through one of `names`, or it replaces one of
    `read`."""
    return any(name in names for name in asked_names(facts)) or any(
        name in read for name in _replaced(facts)
    )


def _calls_own(facts: ModuleFacts, imported: Set[str]) -> bool:
    """Whether the file calls a function of its own of such a name: what may fail in it is excused
    by the calls of the file alone, for as long as nobody imports the name."""
    return not imported.isdisjoint(facts.loaded_names) and any(
        binding.kind == "function" and binding.name in imported for binding in facts.bindings
    )


def _below_conftests(tree: Tree, affected: Set[str], names: Set[str]) -> Iterator[str]:
    """The files with tests below an affected conftest.py that imports one of `names`: what they
    miss is told only where it can be imported."""
    directories = [
        parent(path)
        for path in affected
        if is_conftest(path)
        and isinstance(facts := tree.files[path], ModuleFacts)
        and any(
            not names.isdisjoint((imp.bound, imp.name, *imp.module.split(".")))
            for imp in facts.imports
        )
    ]
    for path, facts in tree.files.items() if directories else ():
        has_tests = isinstance(facts, ModuleFacts) and facts.pytest.tests
        if has_tests and any(is_below(path, directory) for directory in directories):
            yield path


def asked_names(facts: ModuleFacts) -> Iterator[str]:
    """The parts of all names through which a file refers to others."""
    for imp in facts.imports:
        if imp.name is not None:
            yield imp.name
        yield from imp.module.split(".")
    for use in facts.uses:
        yield from use.chain
    for patch in facts.patches:
        yield from patch.target.split(".")
        yield from (patch.attribute or "").split(".")
    for test in facts.pytest.tests:
        yield from test.arguments


def _replaced(facts: ModuleFacts) -> Iterator[str]:
    for patch in facts.patches:
        yield (patch.attribute or patch.target).rpartition(".")[2]
    for use in facts.uses:
        if use.context == "store":
            yield use.chain[-1]
