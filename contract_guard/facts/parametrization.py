"""How many cases a literal parametrization makes, and the ids that pytest gives them."""

import ast
from typing import NamedTuple, cast

from contract_guard.facts.constants import Constants
from contract_guard.facts.fold import NotFoldable, names_in
from contract_guard.facts.source import callee, dotted

MAX_IDS = 2000
MAX_CASES = 10**9
_MAX_WORK = 20_000  # elements looked at for one parametrization
_DEPTH = 12
_SAME_LENGTH = frozenset({"list", "tuple", "sorted", "reversed", "enumerate"})


class Cases(NamedTuple):
    """`total` is a lower bound if not `exact`. `ids` are None where they are not certain.
    `names` are the parameters, without those that go to a fixture (`indirect`)."""

    names: tuple[str, ...]
    total: int
    exact: bool
    ids: tuple[str, ...] | None


def cases_of(decorator: ast.expr, constants: Constants, owner: str) -> Cases | None:
    """The cases that a decorator or mark makes, None if it is no parametrization.

    `owner` is the class around, whose constants a method's decorators can name.
    """
    call = _parametrize_call(decorator, constants)
    if call is None:
        return None
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    last = callee(call).rpartition(".")[2]
    sizes = Sizes(constants, owner)
    if last == "expand":
        count = sizes.length(call.args[0]) if call.args else None
        return Cases((), *bounded_count(count), None)
    names_node = call.args[0] if call.args else arguments.get("argnames")
    values = call.args[1] if len(call.args) > 1 else arguments.get("argvalues")
    if names_node is None or values is None:
        return Cases((), 1, False, None)
    names = _names(names_node, constants)
    count = sizes.length(values)
    ids_node = call.args[3] if len(call.args) > 3 else arguments.get("ids")
    ids = None
    if count is not None and 0 < count <= MAX_IDS and names:
        ids = _Ids(sizes, names, ids_node).of(values)
        if ids is not None and (len(ids) != count or len(set(ids)) != count):
            ids = None
    indirect = call.args[2] if len(call.args) > 2 else arguments.get("indirect")
    return Cases(_direct(names, indirect, constants), *bounded_count(count), ids)


def bounded_count(count: int | None) -> tuple[int, bool]:
    """A number of cases, at least 1 (an empty parametrization is one skipped test) and at most
    `MAX_CASES`, and whether it is exact."""
    if count is None:
        return 1, False
    return min(max(count, 1), MAX_CASES), count <= MAX_CASES


def _parametrize_call(node: ast.expr, constants: Constants) -> ast.Call | None:
    if isinstance(node, ast.Name):
        known = constants.node(node.id)
        node = known if known is not None else node
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    if isinstance(function, ast.Name):
        known = constants.node(function.id)
        if known is not None:
            function = known
    name = dotted(function)
    last = name.rpartition(".")[2]
    if last == "parametrize" or name.endswith("parameterized.expand"):
        return node
    return None


def _names(node: ast.expr, constants: Constants) -> tuple[str, ...]:
    try:
        value = constants.fold(node)
    except NotFoldable:
        return ()
    if isinstance(value, str):
        return tuple([name.strip() for name in value.split(",") if name.strip()])
    if isinstance(value, tuple | list):
        return tuple(names_in(cast("object", value)) or ())
    return ()


def _direct(
    names: tuple[str, ...], indirect: ast.expr | None, constants: Constants
) -> tuple[str, ...]:
    if indirect is None:
        return names
    try:
        value = constants.fold(indirect)
    except NotFoldable:
        return names
    if isinstance(value, tuple | list):
        return tuple([name for name in names if name not in value])
    return () if value else names


class Sizes:
    """Lengths of containers whose elements need not be constants."""

    def __init__(self, constants: Constants, owner: str) -> None:
        self._constants = constants
        self._owner = owner
        self._budget = _MAX_WORK

    def named(self, node: ast.expr) -> ast.expr | None:
        """What a name of the class around or of the module is bound to."""
        name = dotted(node)
        if not name:
            return None
        found = self._constants.node(f"{self._owner}.{name}") if self._owner else None
        return found if found is not None else self._constants.node(name)

    def elements(self, node: ast.expr, depth: int = _DEPTH) -> list[ast.expr] | None:
        """The element expressions of a list, None where they cannot be listed."""
        self._budget -= 1
        if depth == 0 or self._budget < 0:
            return None
        if isinstance(node, ast.List | ast.Tuple):
            found: list[ast.expr] = []
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    inner = self.elements(element.value, depth - 1)
                    if inner is None:
                        return None
                    found.extend(inner)
                else:
                    found.append(element)
            self._budget -= len(found)
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.elements(node.left, depth - 1)
            right = self.elements(node.right, depth - 1)
            return None if left is None or right is None else left + right
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            if dotted(node.func) in ("list", "tuple"):
                return self.elements(node.args[0], depth - 1)
            return None
        named = self.named(node)
        return self.elements(named, depth - 1) if named is not None else None

    def length(self, node: ast.expr, depth: int = _DEPTH) -> int | None:
        """How many elements iteration gives, None where it cannot be told."""
        self._budget -= 1
        if depth == 0 or self._budget < 0:
            return None
        elements = self.elements(node, depth)
        if elements is not None:
            return len(elements)
        if isinstance(node, ast.Dict):
            return None if None in node.keys else len(node.keys)
        if isinstance(node, ast.Call):
            return self._call_length(node, depth - 1)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            if any(generator.ifs for generator in node.generators):
                return None
            lengths = [self.length(g.iter, depth - 1) for g in node.generators]
            return _product(lengths)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.length(node.left, depth - 1)
            right = self.length(node.right, depth - 1)
            return None if left is None or right is None else left + right
        named = self.named(node)
        if named is not None:
            return self.length(named, depth - 1)
        return self._folded_length(node)

    def _folded_length(self, node: ast.expr) -> int | None:
        try:
            value = self._constants.fold(node)
        except NotFoldable:
            return None
        if isinstance(value, tuple | list | set | frozenset | dict | range | str):
            return len(value)  # pyright: ignore
        return None

    def _call_length(self, node: ast.Call, depth: int) -> int | None:
        function = node.func
        last = function.attr if isinstance(function, ast.Attribute) else dotted(function)
        if isinstance(function, ast.Attribute) and last in ("keys", "values", "items"):
            return self.length(function.value, depth)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        if last == "product":
            repeat = 1
            for keyword in node.keywords:
                if keyword.arg != "repeat":
                    return None
                value = keyword.value
                if not isinstance(value, ast.Constant) or not isinstance(value.value, int):
                    return None
                repeat = min(max(value.value, 0), 20)
            count = _product([self.length(argument, depth) for argument in node.args])
            return None if count is None else count**repeat
        if last == "zip" and node.args:
            lengths = [self.length(argument, depth) for argument in node.args]
            return None if None in lengths else min(n for n in lengths if n is not None)
        if last in _SAME_LENGTH and node.args:
            return self.length(node.args[0], depth)
        if last == "chain":
            total = 0
            for argument in node.args:
                length = self.length(argument, depth)
                if length is None:
                    return None
                total += length
            return total
        return self._folded_length(node)


def _product(lengths: list[int | None]) -> int | None:
    count = 1
    for length in lengths:
        if length is None:
            return None
        count *= length
    return count


class _Ids:
    """Ids of one parametrization as pytest makes them from literal values."""

    def __init__(self, sizes: Sizes, names: tuple[str, ...], ids: ast.expr | None) -> None:
        self._sizes = sizes
        self._names = names
        self._ids = ids

    def of(self, values: ast.expr) -> tuple[str, ...] | None:
        given: list[ast.expr] | None = None
        if self._ids is not None and not _is_none(self._ids):
            given = self._sizes.elements(self._ids)
            if given is None:
                return None
        elements = self._sizes.elements(values)
        if elements is None:
            elements = _range_elements(values)
        if elements is None or (given is not None and len(given) != len(elements)):
            return None
        found: list[str] = []
        for index, element in enumerate(elements):
            text = self._one(element, index, given[index] if given is not None else None)
            if text is None:
                return None
            found.append(text)
        return tuple(found)

    def _one(self, element: ast.expr, index: int, given: ast.expr | None) -> str | None:
        parts = [element] if len(self._names) == 1 else _parts(element)
        if isinstance(element, ast.Call):
            if callee(element).rpartition(".")[2] != "param":
                return None if len(self._names) > 1 or given is None else _value_id(given, "", 0)
            for keyword in element.keywords:
                if keyword.arg == "id" and not _is_none(keyword.value):
                    return _value_id(keyword.value, "", index)
            parts = element.args
        if given is not None and not _is_none(given):
            return _value_id(given, "", index)
        if parts is None or len(parts) != len(self._names):
            return None
        texts = [
            _value_id(part, name, index) for part, name in zip(parts, self._names, strict=True)
        ]
        if any(text is None for text in texts):
            return None
        return "-".join(text for text in texts if text is not None)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _parts(element: ast.expr) -> list[ast.expr] | None:
    if isinstance(element, ast.Tuple | ast.List):
        return element.elts
    return None


def _range_elements(node: ast.expr) -> list[ast.expr] | None:
    if not (isinstance(node, ast.Call) and dotted(node.func) == "range"):
        return None
    bounds: list[int] = []
    for argument in node.args:
        if not isinstance(argument, ast.Constant) or type(argument.value) is not int:
            return None
        bounds.append(argument.value)
    try:
        return [ast.Constant(value) for value in range(*bounds)[: MAX_IDS + 1]]
    except (TypeError, ValueError):
        return None


def _value_id(node: ast.expr, name: str, index: int) -> str | None:
    """The id of a literal value; None where pytest would look at an object we do not have."""
    if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set):
        return f"{name}{index}" if name else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = node.operand
        if isinstance(inner, ast.Constant) and type(inner.value) in (int, float):
            return str(-inner.value)  # pyright: ignore
        return None
    if not isinstance(node, ast.Constant):
        return None
    value = node.value
    if isinstance(value, str):
        return value if value and value.isascii() and value.isprintable() else None
    if isinstance(value, bool | float | None):
        return str(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() < 4096 else None
    return None
