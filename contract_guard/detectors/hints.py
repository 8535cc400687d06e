"""What took the place of a name that is gone: the text of `help`.

The same name is often missed in many files, and what to say of it takes a look at all modules: it
is worked out once.
"""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from contract_guard.detectors.base import Context
from contract_guard.registry.modules import Module

_CLOSE = 0.6
_AT_MOST = 3
_COMPARED = 2000  # names that one is compared with


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
    close = _close(name, [n for each in found for n in _names(each)])
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
    ]
    close = _close(name, members)
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

    def others(last: str = "", above: str | None = None) -> list[str]:
        """Test helpers are not looked for in production, nor the other way round."""
        found = (
            each
            for each in context.registry.modules.all()
            if each.name.endswith(last) and above in (None, each.name.rpartition(".")[0])
        )
        return sorted({each.name for each in found if _is_test(context, each) == in_tests})

    moved = others(last=f".{module.rpartition('.')[2]}")
    if moved and len(moved) <= _AT_MOST:
        return f"moved to {_listed(moved)}?"
    if package is not None:
        gone = module[len(package.name) + 1 :].partition(".")[0]
        close = _close(f"{package.name}.{gone}", others(above=package.name))
        if close:
            return f"renamed to {_listed(close)}?"
    return f"import what took the place of `{module}`; if a build makes it, see `dynamic-names`"


def _once(context: Context, key: tuple[str, ...], say: Callable[[], str]) -> str:
    known = context.hints.get(key)
    if known is None:
        known = context.hints[key] = say()
    return known


def _definitions(context: Context, module: str, name: str) -> list[str]:
    """Symbols of the name that may have taken the place of the one in `module`: for a module of
    another project, those of the same package alone."""
    found = context.definitions(name)
    package = next(iter(context.registry.modules.named(module)), None) or _nearest(context, module)
    if package is None or not package.tree:
        return found
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


def _close(name: str, names: Iterable[str]) -> list[str]:
    candidates = sorted(set(names))
    if len(candidates) > _COMPARED:
        alike = [other for other in candidates if other[:2] == name[:2]]
        candidates = alike[:_COMPARED]
    return get_close_matches(name, candidates, n=2, cutoff=_CLOSE)


def _listed(names: Iterable[str]) -> str:
    shown = [f"`{name}`" for name in names]
    more = len(shown) - _AT_MOST
    return ", ".join(shown[:_AT_MOST]) + (f" and {more} more" if more > 0 else "")
