"""`Binding` facts: what a module or a class body binds, with signatures and literal values."""

import ast

from contract_guard.facts.fold import is_foldable
from contract_guard.facts.model import Binding, Parameter, Signature, Span
from contract_guard.facts.observations import Bound, Observations
from contract_guard.facts.source import Source, callee

MAX_VALUE = 2000  # characters


def bindings_of(bound: list[Bound], notes: Observations) -> tuple[Binding, ...]:
    return tuple([_binding(item, notes) for item in bound])


def _binding(item: Bound, notes: Observations) -> Binding:
    source = notes.source
    node = item.node
    guard = notes.guards.index(item.guard)
    statement = source.span(item.statement)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return Binding(
            item.name,
            "function",
            name_span(node, source),
            statement,
            guard,
            signature=signature(node, source),
            decorators=tuple([callee(decorator) for decorator in node.decorator_list]),
            body=item.digest,
            via_global=item.via_global,
        )
    if isinstance(node, ast.ClassDef):
        return Binding(
            item.name,
            "class",
            name_span(node, source),
            statement,
            guard,
            decorators=tuple([callee(decorator) for decorator in node.decorator_list]),
            body=item.digest,
            via_global=item.via_global,
        )
    return Binding(
        item.name,
        item.kind,
        source.span(node) if node is not item.statement else statement,
        statement,
        guard,
        value=_value_text(item, source),
        imported=item.imported,
        via_global=item.via_global,
    )


def _value_text(item: Bound, source: Source) -> str | None:
    value = item.value
    if value is None or item.kind != "assign":
        return None
    if (value.end_lineno or value.lineno) - value.lineno > MAX_VALUE or not is_foldable(value):
        return None
    text = source.segment(value)
    if len(text) > MAX_VALUE:
        return None
    if "\n" in text and not isinstance(value, ast.Constant):
        text = f"({text})"
    for index in item.path:
        text = f"({text})[{index}]"
    return text


def name_span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, source: Source) -> Span:
    """Where the name of a definition stands; the definition's first line if it is not there."""
    line = source.lines[node.lineno - 1]
    start = source.column(node.lineno, node.col_offset) - 1
    keyword = "class" if isinstance(node, ast.ClassDef) else "def"
    column = line.find(node.name, line.find(keyword, start) + len(keyword))
    if column < 0:
        return Span(node.lineno, start + 1, node.lineno, len(line) + 1)
    return Span(node.lineno, column + 1, node.lineno, column + len(node.name) + 1)


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> Signature:
    """The parameters with the source text of their defaults."""
    arguments = node.args
    found: list[Parameter] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        default = None
        if index >= first_default:
            default = source.short(arguments.defaults[index - first_default])
        kind = "positional-only" if index < len(arguments.posonlyargs) else "positional"
        found.append(Parameter(argument.arg, kind, default))
    if arguments.vararg is not None:
        found.append(Parameter(arguments.vararg.arg, "var-positional", None))
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = source.short(value) if value is not None else None
        found.append(Parameter(argument.arg, "keyword-only", default))
    if arguments.kwarg is not None:
        found.append(Parameter(arguments.kwarg.arg, "var-keyword", None))
    return Signature(tuple(found), isinstance(node, ast.AsyncFunctionDef))
