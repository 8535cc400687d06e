"""Names in literal tables: dictionaries, lists and sets that a module looks names up in."""

import ast

from contract_guard.facts.constants import Constants
from contract_guard.facts.observations import Bound, Observations
from contract_guard.facts.source import dotted

Entries = dict[str, list[str]]
"""Each name of a table with the names in its value: `{"sub": ["a", "b"], "x": "y"}`."""

_DEPTH = 10
_MAX_ITEMS = 50_000
_WRAPPERS = frozenset(
    {"set", "frozenset", "list", "tuple", "sorted", "dict", "MappingProxyType", "OrderedDict"}
)
_ADDERS = frozenset({"update", "setdefault", "append", "add", "extend", "insert"})


class Tables:
    """Reads the tables of one module; `exports` stands for `__all__`."""

    def __init__(
        self, notes: Observations, constants: Constants, exports: tuple[str, ...] | None
    ) -> None:
        self._constants = constants
        self._exports = exports
        self._known: dict[str, Entries | None] = {}
        self._bound: dict[str, list[Bound]] = {}
        for item in notes.bindings[notes.module]:
            self._bound.setdefault(item.name, []).append(item)
        self._stores: dict[str, list[tuple[ast.expr, ast.expr | None]]] = {}
        for node, value, here in notes.subscript_stores:
            if here.scope is notes.module and isinstance(node.value, ast.Name):
                self._stores.setdefault(node.value.id, []).append((node.slice, value))
        self._additions: dict[str, list[ast.Call]] = {}
        for name in _ADDERS:
            for call, here in notes.calls_by_name.get(name, ()):
                owner = call.func.value if isinstance(call.func, ast.Attribute) else None
                # `table["key"].append(...)` adds to the entry of the key.
                table = owner.value if isinstance(owner, ast.Subscript) else owner
                if here.scope is notes.module and isinstance(table, ast.Name):
                    self._additions.setdefault(table.id, []).append(call)

    def names(self, node: ast.expr) -> list[str] | None:
        """The names that `name in node` and `node[name]` find, None where they cannot be told."""
        entries = self.entries(node)
        return None if entries is None else list(entries)

    def entries(self, node: ast.expr, depth: int = _DEPTH) -> Entries | None:
        """The entries of a table expression, None where they cannot be told."""
        if depth == 0:
            return None
        if isinstance(node, ast.Name):
            return self._named(node.id, depth - 1)
        if isinstance(node, ast.Dict):
            return self._dict(node, depth - 1)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._sequence(node.elts, depth - 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.BitOr):
            return _joined(self.entries(node.left, depth - 1), self.entries(node.right, depth - 1))
        if isinstance(node, ast.Call):
            return self._call(node, depth - 1)
        if isinstance(node, ast.DictComp):
            return self._comprehension(node.generators, node.key, depth - 1)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._comprehension(node.generators, node.elt, depth - 1)
        text = self._constants.text(node)
        return {text: []} if text is not None else None

    def _named(self, name: str, depth: int) -> Entries | None:
        if name not in self._known:
            self._known[name] = None  # for a table that mentions itself
            self._known[name] = self._bound_entries(name, depth)
        return self._known[name]

    def _bound_entries(self, name: str, depth: int) -> Entries | None:
        if name == "__all__" and self._exports is not None:
            return {export: [] for export in self._exports}
        bound = [item for item in self._bound.get(name, ()) if item.kind != "annotation"]
        if not bound:
            return None
        entries: Entries | None = {}
        for item in bound:
            value = item.value
            if isinstance(item.statement, ast.AugAssign):
                value = item.statement.value
            if item.kind != "assign" or value is None or item.path:
                return None
            entries = _joined(entries, self.entries(value, depth))
        for key, value in self._stores.get(name, ()):
            text = self._constants.text(key)
            if text is None or entries is None:
                return None
            entries = _joined(entries, {text: self._items(value, depth)})
        for call in self._additions.get(name, ()):
            entries = _joined(entries, self._addition(call, depth))
        return entries

    def _addition(self, call: ast.Call, depth: int) -> Entries | None:
        assert isinstance(call.func, ast.Attribute)
        owner, method = call.func.value, call.func.attr
        if not call.args and not call.keywords:
            return {}
        if isinstance(owner, ast.Subscript):
            key = self._constants.text(owner.slice)
            return None if key is None else {key: self._items(call.args[-1], depth)}
        if method == "setdefault":
            key = self._constants.text(call.args[0])
            value = call.args[1] if len(call.args) > 1 else None
            return None if key is None else {key: self._items(value, depth)}
        entries: Entries | None = {k.arg: [] for k in call.keywords if k.arg is not None}
        for argument in call.args[-1:]:
            entries = _joined(entries, self.entries(argument, depth))
        return entries

    def _dict(self, node: ast.Dict, depth: int) -> Entries | None:
        entries: Entries | None = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                entries = _joined(entries, self.entries(value, depth))
                continue
            text = self._constants.text(key)
            if text is None or entries is None:
                return None
            entries.setdefault(text, []).extend(self._items(value, depth))
        return entries

    def _items(self, value: ast.expr | None, depth: int) -> list[str]:
        if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Name | ast.Constant | ast.BinOp):
            return list(self.entries(value, depth) or ())
        return []

    def _sequence(self, elements: list[ast.expr], depth: int) -> Entries | None:
        entries: Entries = {}
        for element in elements:
            if isinstance(element, ast.Starred):
                inner = self.entries(element.value, depth)
                if inner is None:
                    return None
                entries.update(inner)
                continue
            text = self._constants.text(element)
            if text is None:
                return None
            entries[text] = []
        return entries

    def _call(self, node: ast.Call, depth: int) -> Entries | None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("keys", "copy", "items"):
            return self.entries(function.value, depth)
        if isinstance(function, ast.Attribute) and function.attr == "values":
            inner = self.entries(function.value, depth)
            return None if inner is None else {n: [] for items in inner.values() for n in items}
        if dotted(function).rpartition(".")[2] not in _WRAPPERS:
            return None
        entries: Entries | None = {k.arg: [] for k in node.keywords if k.arg is not None}
        for argument in node.args:
            entries = _joined(entries, self.entries(argument, depth))
        return entries

    def _comprehension(
        self, generators: list[ast.comprehension], result: ast.expr, depth: int
    ) -> Entries | None:
        """`{name: m for m, names in T.items() for name in names}` and its simpler forms.

        Conditions are not looked at: they can only take names away.
        """
        if not isinstance(result, ast.Name):
            return None
        bound: dict[str, list[str]] = {}
        for generator in generators:
            source, target = generator.iter, generator.target
            if isinstance(source, ast.Name) and source.id in bound:
                found: Entries | None = {name: [] for name in bound[source.id]}
            else:
                found = self.entries(source, depth)
            if found is None:
                return None
            if isinstance(target, ast.Name):
                bound[target.id] = list(found)
            elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
                first, second = target.elts
                if isinstance(first, ast.Name):
                    bound[first.id] = list(found)
                if isinstance(second, ast.Name):
                    bound[second.id] = [name for items in found.values() for name in items]
            else:
                return None
        names = bound.get(result.id)
        return None if names is None else {name: [] for name in names}


def _joined(left: Entries | None, right: Entries | None) -> Entries | None:
    if left is None or right is None:
        return None
    result = {name: list(items) for name, items in left.items()}
    for name, items in right.items():
        result.setdefault(name, []).extend(items)
    if sum(map(len, result.values())) + len(result) > _MAX_ITEMS:
        return None
    return result
