"""What has to be run to see whether a copy still agrees with production: both sides of the
assertions of one test, as programs over the same inputs."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contract_guard.mirrors.graph import Graph
from contract_guard.mirrors.model import UNRESOLVED, Const, Op, Reference
from contract_guard.mirrors.scopes import dotted_name, module_of
from contract_guard.mirrors.trace import Expectation, Trace, functions_of, trace

# Forms of assertions that compare for equality, by their last word.
_EQUALITIES = frozenset(
    {
        *("==", "equal", "all", "assert_eq"),
        *("assertEqual", "assertEquals", "assertListEqual", "assertTupleEqual", "assertDictEqual"),
        *("assertAlmostEqual", "assertAllClose", "assertSequenceEqual", "assertTensorEqual"),
    }
)
_EQUAL_ENDINGS = ("close", "_equal", "_equals")  # also of what a project names so
# What fixtures of these names give anywhere.
_FIXTURES = {"$device": Const("cpu"), "$dtype": Const(UNRESOLVED, "torch:float32")}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One assertion: its line, and the values of both sides."""

    line: int
    expected: Reference
    actual: Reference


@dataclass(frozen=True, slots=True)
class Program:
    """Operations in order, and what of them is compared.

    `production` are indices of the operations that production itself computes, by calls. `sources`
    say how the test makes an input: "$name", the op that gives one such value (an array, or an
    object of production), and the attribute of that value which is meant, "" for itself. `rows`
    are the values that a parametrization gives to inputs together. A constant that the test gives
    a name of its own is an input too; `named` is its value.
    """

    ops: tuple[Op, ...]
    production: frozenset[int]
    comparisons: tuple[Comparison, ...]
    sources: tuple[tuple[str, int, str], ...]
    rows: tuple[tuple[tuple[str, ...], tuple[tuple[Const, ...], ...]], ...]
    named: tuple[tuple[str, Const], ...]


class CannotLift(Exception):
    """Why nothing can be run; the message names it."""


def program(
    tree: ast.Module, qualname: str, first: int, last: int, packages: frozenset[str]
) -> Program:
    """The program of the assertions that the lines `first` to `last` of a test take part in.

    Raises CannotLift where there is none of which both sides are known, LookupError if the file
    has no such test.
    """
    traced = trace(tree, qualname, packages)
    graph = traced.graph
    chosen = [e for e in traced.expectations if _takes_part(e, traced, first, last)]
    if not chosen:
        raise CannotLift("the assertion: production's side of it is not a value")
    equal = [e for e in chosen if _is_equality(e.form)]
    if not equal:
        raise CannotLift(chosen[0].form)
    roots = [side for e in equal for side in (e.value, e.actual) if side is not None]
    needed = traced.reachable(roots)
    if not any(index in graph.produced for index in needed):
        raise CannotLift("the test calls nothing of production for it")
    sources: dict[str, tuple[int, str]] = {}
    pending = _inputs(graph, needed, roots)
    while pending:
        name = pending.pop()
        source = _source(graph, name)
        if source is not None and name not in sources:
            sources[name] = source
            more = traced.reachable(source[:1])
            needed = sorted({*needed, *more})
            pending |= _inputs(graph, more, ()) - sources.keys()
    for reason in traced.refused_for(needed):
        raise CannotLift(reason)
    given = _inputs(graph, needed, roots)
    rows = tuple(_parametrized(tree, qualname))
    known = {name for names, _ in rows for name in names} | sources.keys()
    fixtures = [name for name in _FIXTURES if name in given and name not in known]
    rows += tuple(((name,), ((_FIXTURES[name],),)) for name in fixtures)
    parameters = {name for names, _ in rows for name in names}
    sources = {name: source for name, source in sources.items() if name not in parameters}
    return _renumbered(graph, needed, equal, sources, rows)


def _is_equality(form: str) -> bool:
    *_, last = words = form.split()
    is_not = "not" in words or "not_" in last
    return not is_not and (last in _EQUALITIES or last.endswith(_EQUAL_ENDINGS))


def _takes_part(expectation: Expectation, traced: Trace, first: int, last: int) -> bool:
    """Whether the expected value is computed, at least in part, within these lines."""
    if expectation.actual is None or expectation.literal:
        return False
    ops = traced.graph.ops
    return any(first <= ops[i].line <= last for i in traced.reachable([expectation.value]))


def _inputs(graph: Graph, needed: Iterable[int], roots: Iterable[Reference]) -> set[str]:
    found = {root for root in roots if isinstance(root, str)}
    for index in needed:
        op = graph.ops[index]
        found.update(a for a in op.arguments if isinstance(a, str))
        found.update(a for _, a in op.keywords if isinstance(a, str))
    return found


def _source(graph: Graph, name: str) -> tuple[int, str] | None:
    """The op whose value the test bound to an input, or to the object that it is an attribute of:
    the last one of that name that is drawn, made by production or written down."""
    parts = name.removeprefix("$").split(".")
    for end in range(len(parts), 0, -1):
        wanted = {parts[end - 1], ".".join(parts[:end])}  # `self.x` keeps its dot
        bound = [index for index, names in graph.aliases.items() if wanted & names]
        if bound:
            return max(bound), ".".join(parts[end:])
    return None


def _renumbered(
    graph: Graph,
    needed: Iterable[int],
    chosen: Iterable[Expectation],
    sources: dict[str, tuple[int, str]],
    rows: tuple[tuple[tuple[str, ...], tuple[tuple[Const, ...], ...]], ...],
) -> Program:
    number = {old: new for new, old in enumerate(needed)}
    named: dict[str, Const] = {}

    def moved(value: Reference) -> Reference:
        if isinstance(value, int):
            return number[value]
        if isinstance(value, Const) and _is_named(value):
            name = f"${value.symbol}"
            return name if named.setdefault(name, value).value == value.value else value
        return value

    ops = tuple(
        Op(
            graph.ops[old].name,
            tuple(moved(a) for a in graph.ops[old].arguments),
            tuple((key, moved(a)) for key, a in graph.ops[old].keywords),
            graph.ops[old].line,
        )
        for old in number
    )
    comparisons = tuple(
        Comparison(e.line, moved(e.value), moved(e.actual)) for e in chosen if e.actual is not None
    )
    return Program(
        ops=ops,
        production=frozenset(number[i] for i in graph.produced if i in number),
        comparisons=comparisons,
        sources=tuple((name, number[at], path) for name, (at, path) in sorted(sources.items())),
        rows=rows,
        named=tuple(named.items()),
    )


def _parametrized(
    tree: ast.Module, qualname: str
) -> Iterator[tuple[tuple[str, ...], tuple[tuple[Const, ...], ...]]]:
    """The literal rows of each `parametrize` of a test, by the names that they are given to."""
    node, owner = next((n, o) for name, n, o in functions_of(tree) if name == qualname)
    constants = dict(module_of(tree).constants)
    for statement in owner.body if owner else ():
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            constants[statement.targets[0].id] = statement.value
    for decorator in (*node.decorator_list, *(owner.decorator_list if owner else ())):
        if not (
            isinstance(decorator, ast.Call)
            and dotted_name(decorator.func).endswith("parametrize")
            and len(decorator.args) >= 2
        ):
            continue
        try:
            written = ast.literal_eval(decorator.args[0])
        except ValueError:
            continue
        names = [n.strip() for n in written.split(",")] if isinstance(written, str) else written
        items = _items(decorator.args[1], constants, _DEPTH)
        rows = [row for item in items if (row := _row(item, len(names))) is not None]
        # A column of other values takes only itself away.
        kept = [at for at in range(len(names)) if rows and all(row[at] for row in rows)]
        if kept:
            values = [tuple(value for at in kept if (value := row[at])) for row in rows]
            yield tuple(f"${names[at]}" for at in kept), tuple(values)


_DEPTH = 4  # names and sums of lists within one another


def _items(node: ast.expr, constants: Mapping[str, ast.expr], depth: int) -> list[ast.expr]:
    """What a list holds that is written out, goes by a name, or is the sum of such."""
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if depth and isinstance(node, ast.Name) and node.id in constants:
        return _items(constants[node.id], constants, depth - 1)
    if depth and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_items(side, constants, depth - 1) for side in (node.left, node.right)]
        return sides[0] + sides[1] if all(sides) else []
    return []


def _row(node: ast.expr, length: int) -> list[Const | None] | None:
    """The values of one row, None for those that are not constant; None if it has not so many."""
    parts = [node]
    if isinstance(node, ast.Call) and dotted_name(node.func).endswith("param"):
        parts = node.args
    elif length > 1:
        parts = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    return [_constant(part) for part in parts] if len(parts) == length else None


def _constant(node: ast.expr) -> Const | None:
    dotted = dotted_name(node)
    if dotted.startswith("torch."):
        return Const(UNRESOLVED, dotted.replace(".", ":", 1))
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError):
        return None
    return Const(value) if isinstance(value, int | float | str | None) else None


def _is_named(value: Const) -> bool:
    """Whether the test gave a number or a text a name, in small letters: it could be another."""
    return (
        value.value is not UNRESOLVED
        and value.symbol is not None
        and value.symbol.isidentifier()
        and value.symbol.islower()
        and isinstance(value.value, int | float | str)
        and not isinstance(value.value, bool)
    )


def unknown_inputs(lifted: Program) -> Iterator[str]:
    """Inputs of which nothing tells what they could be."""
    known = {name for name, _, _ in lifted.sources} | {name for name, _ in lifted.named}
    known.update(name for names, _ in lifted.rows for name in names)
    seen: set[str] = set()
    for op in lifted.ops:
        for value in (*op.arguments, *(v for _, v in op.keywords)):
            if isinstance(value, str) and value not in known and value not in seen:
                seen.add(value)
                yield value.removeprefix("$")


def to_json(lifted: Program) -> dict[str, object]:
    """A program as JSON holds it. Raises CannotLift for constants that JSON does not have."""
    return {
        "ops": [
            [op.name, [_out(a) for a in op.arguments], [[k, _out(a)] for k, a in op.keywords]]
            for op in lifted.ops
        ],
        "lines": [op.line for op in lifted.ops],
        "production": sorted(lifted.production),
        "comparisons": [[c.line, _out(c.expected), _out(c.actual)] for c in lifted.comparisons],
        "sources": lifted.sources,
        "rows": [
            [names, [[_out(value) for value in row] for row in rows]] for names, rows in lifted.rows
        ],
        "named": [[name, _out(value)] for name, value in lifted.named],
    }


def from_json(record: dict[str, Any]) -> Program:
    """The program that `to_json` wrote."""
    return Program(
        ops=tuple(
            Op(name, tuple(map(_in, arguments)), tuple((k, _in(a)) for k, a in words), line)
            for (name, arguments, words), line in zip(record["ops"], record["lines"], strict=True)
        ),
        production=frozenset(record["production"]),
        comparisons=tuple(Comparison(n, _in(e), _in(a)) for n, e, a in record["comparisons"]),
        sources=tuple((name, index, path) for name, index, path in record["sources"]),
        rows=tuple(
            (tuple(names), tuple(tuple(_known(v) for v in row) for row in rows))
            for names, rows in record["rows"]
        ),
        named=tuple((name, _known(value)) for name, value in record["named"]),
    )


def _out(value: Reference) -> object:
    if not isinstance(value, Const):
        return value
    if value.value is UNRESOLVED:
        return {"symbol": value.symbol}
    if value.value is ...:
        return {"symbol": "builtins:Ellipsis"}
    if not isinstance(value.value, int | float | str | None):
        raise CannotLift(f"a constant of type {type(value.value).__name__}")
    return {"value": value.value}


def _in(value: Any) -> Reference:
    return _known(value) if isinstance(value, dict) else value


def _known(value: Any) -> Const:
    if "value" in value:
        return Const(value["value"])
    return Const(UNRESOLVED, value["symbol"])
