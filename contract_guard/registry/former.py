"""Top-level packages that a change took away or emptied: a name below one of them is gone, where
without the older revision it might be anyone's."""

import msgspec

from contract_guard.registry.index import Registry, build
from contract_guard.registry.layout import is_below
from contract_guard.registry.model import Tree

# The share of a package's files that another one has to have, to be the same under a new name.
_MOVED_SHARE = 0.5


def former_packages(old: Registry, new: Registry) -> frozenset[str]:
    """Packages of `old` that lost their `__init__.py`, or went to live under another name.

    One that is gone without a trace is left out: an installed package of that name may have taken
    its place, as where a vendored copy is given up.
    """
    found: set[str] = set()
    for module in old.modules.all(0):
        name = module.name
        if module.kind != "package" or "." in name or old.layout.is_test(module.path):
            continue
        if not old.modules.locate(None, name).certain:
            continue
        kind = new.layout.kind(module.key)
        if kind == "namespace" or (
            kind is None
            and not new.modules.named(name)
            and _has_moved(module.key, old.tree, new.tree)
        ):
            found.add(name)
    return frozenset(found)


def build_after(old: Registry, tree: Tree) -> Registry:
    """The registry of what came of `old`: packages that it had are not taken for others."""
    registry = build(tree)
    former = former_packages(old, registry)
    return build(msgspec.structs.replace(tree, former=former)) if former else registry


def _has_moved(key: str, old: Tree, new: Tree) -> bool:
    """Whether the files of the directory are below another one now, by their paths in it."""
    inner = {path[len(key) :] for path in old.files if is_below(path, key)}
    came = [path for path in new.files if path not in old.files]
    moved = {part for part in inner if any(path.endswith(part) for path in came)}
    return len(inner) > 1 and len(moved) >= _MOVED_SHARE * len(inner)
