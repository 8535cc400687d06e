"""The fields from which Python writes the constructor of a data class or a named tuple."""

import ast
from collections.abc import Iterator, Sequence
from typing import Literal

from contract_guard.facts.model import Field
from contract_guard.facts.source import Source, callee, dotted

_OPTIONS = ("init", "kw_only")
_BLOCKS = ast.If | ast.Try | ast.With | ast.For | ast.While | ast.Match
_Kind = Literal["positional", "keyword-only", "none"]


def fields_of(node: ast.ClassDef, source: Source) -> tuple[Field, ...] | None:
    """What `@dataclass` or `NamedTuple` makes of the annotations in the body of the class, not of
    those of its bases. None where neither stands there, or where the fields cannot be told."""
    last_parts = {dotted(base).rpartition(".")[2] for base in node.bases}
    decorators = [d for d in node.decorator_list if callee(d).rpartition(".")[2] == "dataclass"]
    if "NamedTuple" in last_parts:
        options: dict[str, bool] | None = {}
    elif decorators:
        options = _options(decorators[0])
    else:
        return None
    if options is None or not options.get("init", True) or _is_in_blocks(node.body):
        return None
    is_keyword = options.get("kw_only", False)
    found = list(_fields(node.body, source, "keyword-only" if is_keyword else "positional"))
    others = _bound_otherwise(node.body)
    fields = [field for field in found if field is not None and field.name not in others]
    return tuple(fields) if len(fields) == len(found) else None


def _is_in_blocks(body: Sequence[ast.stmt]) -> bool:
    """Whether there may be fields that are not there always."""
    return any(
        isinstance(node, ast.AnnAssign)
        for statement in body
        if isinstance(statement, _BLOCKS)
        for node in ast.walk(statement)
    )


def _bound_otherwise(body: Sequence[ast.stmt]) -> set[str]:
    """Names that the body binds without an annotation: such a value is a field's default too."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        elif not isinstance(statement, ast.AnnAssign):
            stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            found.update(node.id for node in stored if isinstance(node.ctx, ast.Store))
    return found


def _fields(body: Sequence[ast.stmt], source: Source, kind: _Kind) -> Iterator[Field | None]:
    """Each field, None for one that cannot be told."""
    for statement in body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name, value = statement.target.id, statement.value
        annotation = _annotation(statement.annotation)
        if annotation == "KW_ONLY":
            kind = "keyword-only"
        elif annotation == "ClassVar":
            yield Field(name, "none", None)
        elif isinstance(value, ast.Call) and callee(value).rpartition(".")[2] == "field":
            yield _declared(name, value, source, kind)
        else:
            yield Field(name, kind, source.short(value) if value is not None else None)


def _declared(name: str, call: ast.Call, source: Source, kind: _Kind) -> Field | None:
    """A field by `field(...)`."""
    options = _options(call)
    if options is None:
        return None
    if "kw_only" in options:
        kind = "keyword-only" if options["kw_only"] else "positional"
    defaults = [k for k in call.keywords if k.arg in ("default", "default_factory")]
    default = source.short(defaults[0].value) if defaults else None
    return Field(name, kind if options.get("init", True) else "none", default)


def _annotation(node: ast.expr) -> str:
    """The last part of what an annotation names: `ClassVar` of `typing.ClassVar[int]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.partition("[")[0].rpartition(".")[2].strip()
    return dotted(node.value if isinstance(node, ast.Subscript) else node).rpartition(".")[2]


def _options(node: ast.expr) -> dict[str, bool] | None:
    """The keywords of a call that count here, None where another value than True or False is
    given."""
    found: dict[str, bool] = {}
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg is None:
            return None
        if keyword.arg in _OPTIONS:
            value = keyword.value
            if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
                return None
            found[keyword.arg] = value.value
    return found
