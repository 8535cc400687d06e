"""Texts that an expression may have at a place: constants, f-strings, loops, arguments."""

import ast

from contract_guard.facts.classes import method_class
from contract_guard.facts.constants import Constants
from contract_guard.facts.fold import NotFoldable, fold_node, is_text
from contract_guard.facts.observations import Here, Observations
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.tables import Tables

OWN_NAME = "\0"
"""Stands for the value of `__name__` in a text."""
MODULE_NAME = "\1"
"""Encloses the dotted source of a module whose `__name__` stands in a text."""
_DEPTH = 8


class Texts:
    """Folds texts with constants of the module, the class around, and names assigned once."""

    def __init__(self, notes: Observations, constants: Constants, tables: Tables) -> None:
        self._notes = notes
        self._constants = constants
        self._tables = tables
        self._arguments: dict[tuple[ScopeRecord, str], list[str] | None] = {}

    def of(self, node: ast.expr, here: Here) -> list[str] | None:
        """The text of `node`, or all its texts in a literal loop; None where it does not fold."""
        return self._texts(node, here.scope, _DEPTH)

    def _texts(self, node: ast.expr, scope: ScopeRecord, depth: int) -> list[str] | None:
        if isinstance(node, ast.Constant):
            return [node.value] if is_text(node.value) else None
        if depth == 0:
            return None

        def lookup(name: str) -> object:
            return self._value(name, scope, depth - 1)

        try:
            value = fold_node(node, lookup)
        except NotFoldable:
            return self._loop_texts(node, scope, depth - 1)
        return [value] if is_text(value) else None

    def _value(self, name: str, scope: ScopeRecord, depth: int) -> object:
        root, _, rest = name.partition(".")
        if name == "__name__":
            return OWN_NAME
        home = scope.home(root)
        if rest == "" and home is not None and home is not self._notes.module:
            value = self._notes.named_values.get((home, root))
            texts = self._texts(value, home, depth) if value is not None else None
            if texts is not None and len(texts) == 1:
                return texts[0]
            raise NotFoldable(f"{name} has no single text")
        if rest.endswith("__name__") and home is not None and root not in home.other:
            module = name.rpartition(".")[0]
            return f"{MODULE_NAME}{module}{MODULE_NAME}"
        if rest:
            owner = method_class(scope, root)
            if owner is not None:
                return self._constants.lookup(f"{owner.qualname}.{rest}")
        elif scope.kind == "class":
            return self._constants.lookup(f"{scope.qualname}.{root}")
        return self._constants.lookup(name)

    def _loop_texts(self, node: ast.expr, scope: ScopeRecord, depth: int) -> list[str] | None:
        if not isinstance(node, ast.Name):
            return None
        home = scope.home(node.id)
        if home is None:
            return None
        iterable = self._notes.loops.get((home, node.id))
        if iterable is not None:
            return self._tables.names(iterable)
        if home.kind == "function":
            key = (home, node.id)
            if key not in self._arguments:
                self._arguments[key] = None  # for a function that calls itself
                self._arguments[key] = self._argument_texts(node.id, home, depth)
            return self._arguments[key]
        return None

    def _argument_texts(
        self, parameter: str, function: ScopeRecord, depth: int
    ) -> list[str] | None:
        """What calls in this file pass for a parameter, if all of them pass texts."""
        node = function.node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or depth <= 0:
            return None
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        if parameter not in names:
            return None
        position = names.index(parameter)
        if function.parent is not None and function.parent.kind == "class":
            position -= 1
        calls = self._notes.calls_by_name.get(node.name, ())
        if not calls or len(calls) > 200:
            return None
        found: dict[str, None] = {}
        for call, here in calls:
            value = call.args[position] if 0 <= position < len(call.args) else None
            for keyword in call.keywords:
                if keyword.arg == parameter:
                    value = keyword.value
            if value is None or here.scope is function:
                return None
            texts = self._texts(value, here.scope, depth // 2)
            if texts is None:
                return None
            found.update(dict.fromkeys(texts))
        return list(found)
