"""What took the place of a name that is gone: the text of `help`.

The same name is often missed in many files, and what to say of it takes a look at all modules: it
is worked out once.
"""

from collections.abc import Callable, Collection, Iterable

from contract_guard.detectors.base import Context
from contract_guard.detectors.likeness import renamed
from contract_guard.registry.module import Module

_AT_MOST = 3


def for_name(context: Context, path: str, module: str, name: str) -> str:
    """Help for `name`, which `module` does not have, to the reader of the file `path`."""
    return _once(context, ("name", module, name), lambda: _for_name(context, module, name))


def _for_name(context: Context, module: str, name: str) -> str:
    elsewhere = [s for s in _definitions(context, module, name) if s != f"{module}:{name}"]
    places = _listed(dict.fromkeys(s.partition(":")[0] for s in elsewhere))
    found = context.registry.modules.named(module)
    inside = [owner for each in found for owner in _classes_with(each, name)]
    if inside:
        return f"`{name}` is a member of class `{module}:{inside[0]}`"
    if places and len(elsewhere) <= _AT_MOST:
        return f"now in {places}: take it from there"
    close = renamed(name, [n for each in found for n in _names(each)])
    if close:
        return f"renamed to {_listed(close)}?"
    if places:
        return f"modules with that name: {places}"
    return f"use what took the place of `{name}`, or remove what depends on it"


def for_member(context: Context, module: str, owner: str, name: str) -> str:
    """Help for an attribute that class `owner` of `module` does not have."""
    key = ("member", module, owner, name)
    return _once(context, key, lambda: _for_member(context, module, owner, name))


def _for_member(context: Context, module: str, owner: str, name: str) -> str:
    members = [
        member.name
        for each in context.registry.modules.named(module)
        for class_ in each.classes.get(owner, ())
        for member in class_.members
        if member.name != name
    ]
    close = renamed(name, members)
    if close:
        return f"renamed to {_listed(close)}?"
    return f"use what took the place of `{name}`, or remove what depends on it"


def for_module(context: Context, path: str, module: str, name: str | None) -> str:
    """Help for a module that is gone, from which `name` was imported."""
    key = ("module", module, name or "")
    return _once(context, key, lambda: _for_module(context, module, name))


def _for_module(context: Context, module: str, name: str | None) -> str:
    package = _nearest(context, module)
    in_tests = package is not None and _is_test(context, package)
    homes = _definitions(context, module, name) if name and not in_tests else []
    if homes and len(homes) <= _AT_MOST:
        places = _listed(dict.fromkeys(symbol.partition(":")[0] for symbol in homes))
        return f"`{name}` is now in {places}: import it from there"

    candidates = _like(context, package, in_tests)

    def with_name(wanted: Collection[str]) -> list[str]:
        found = {each.name for each in candidates if each.name in wanted}
        return sorted(each for each in found if _has(context, each, name))

    last = module.rpartition(".")[2]
    moved = with_name({e.name for e in candidates if e.name.rpartition(".")[2] == last})
    if moved and len(moved) <= _AT_MOST:
        return f"moved to {_listed(moved)}?"
    if package is not None:
        above = f"{package.name}."
        gone = module.removeprefix(above).partition(".")[0]
        beside = {e.name for e in candidates if e.name.rpartition(".")[0] == package.name}
        close = renamed(gone, [each.removeprefix(above) for each in beside])
        if close := with_name({above + each for each in close}):
            return f"renamed to {_listed(close)}?"
    return f"import what took the place of `{module}`; if a build makes it, see `dynamic-names`"


def _like(context: Context, package: Module | None, in_tests: bool) -> list[Module]:
    """The modules that a module may have become: of the same project and top package, and test
    helpers only where one of them is gone."""
    top = package.name.partition(".")[0] if package is not None else ""
    return [
        each
        for each in context.registry.modules.all()
        if each.tree == (package.tree if package is not None else 0)
        and (not top or each.name.partition(".")[0] == top)
        and _is_test(context, each) == in_tests
    ]


def _has(context: Context, module: str, name: str | None) -> bool:
    if name is None or name == "*":
        return True
    return context.registry.resolve_symbol(f"{module}:{name}").status == "exists"


def _once(context: Context, key: tuple[str, ...], say: Callable[[], str]) -> str:
    known = context.hints.get(key)
    if known is None:
        known = context.hints[key] = say()
    return known


def _definitions(context: Context, module: str, name: str) -> list[str]:
    """Symbols of the name that may have taken the place of the one in `module`: those of the
    same project alone and, in another than the one that is checked, of the same package."""
    found = context.definitions(name)
    package = next(iter(context.registry.modules.named(module)), None) or _nearest(context, module)
    if package is None:
        return found
    if not package.tree:
        named = context.registry.modules.named
        return [s for s in found if any(not m.tree for m in named(s.partition(":")[0]))]
    top = module.partition(".")[0]
    return [symbol for symbol in found if symbol.partition(":")[0].partition(".")[0] == top]


def _nearest(context: Context, module: str) -> Module | None:
    """The innermost package above a module that is gone."""
    while "." in module:
        module = module.rpartition(".")[0]
        if named := context.registry.modules.named(module):
            return named[0]
    return None


def _is_test(context: Context, module: Module) -> bool:
    return context.registry.modules.layouts[module.tree].is_test(module.path)


def _names(module: Module) -> Iterable[str]:
    return [name for name in module.bindings if not name.startswith("__")]


def _classes_with(module: Module, name: str) -> list[str]:
    return [
        qualname
        for qualname, classes in module.classes.items()
        if any(member.name == name for class_ in classes for member in class_.members)
    ]


def _listed(names: Iterable[str]) -> str:
    shown = [f"`{name}`" for name in names]
    more = len(shown) - _AT_MOST
    return ", ".join(shown[:_AT_MOST]) + (f" and {more} more" if more > 0 else "")
