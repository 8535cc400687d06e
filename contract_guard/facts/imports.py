"""`Import` facts from import statements and from calls that import."""

import ast

from contract_guard.facts.model import Import
from contract_guard.facts.source import Positioned, Source

# The fixture of this tool's own pytest plugin: `contract_guard_symbol("package.module:NAME")`.
_SYMBOL = "contract_guard_symbol"
IMPORTERS = frozenset({"import_module", "importorskip", "__import__", _SYMBOL})
_OWN_PACKAGE = frozenset({"__name__", "__package__"})


def plain_import(
    alias: ast.alias, statement: ast.Import, scope: int, guard: int, source: Source
) -> Import:
    return Import(
        form="import",
        module=alias.name,
        level=0,
        name=None,
        bound=alias.asname or alias.name.partition(".")[0],
        span=source.span(alias),
        statement=source.span(statement),
        scope=scope,
        guard=guard,
        renamed=alias.asname is not None,
    )


def from_import(
    alias: ast.alias, statement: ast.ImportFrom, scope: int, guard: int, source: Source
) -> Import:
    return Import(
        form="from",
        module=statement.module or "",
        level=statement.level,
        name=alias.name,
        bound="" if alias.name == "*" else alias.asname or alias.name,
        span=source.span(alias),
        statement=source.span(statement),
        scope=scope,
        guard=guard,
        renamed=alias.asname is not None,
    )


def importer_name(call: ast.Call) -> str:
    """The name of the called function if it is one of IMPORTERS, else ""."""
    function = call.func
    if type(function) is ast.Name:
        name = function.id
    elif type(function) is ast.Attribute:
        name = function.attr
    else:
        return ""
    return name if name in IMPORTERS else ""


def dynamic_import(
    call: ast.Call,
    bound: str,
    statement: Positioned,
    scope: int,
    guard: int,
    source: Source,
) -> Import | None:
    """The import that `import_module("m")`, `pytest.importorskip("m")`, `__import__("m")` and
    `contract_guard_symbol("m:NAME")` make.

    None where the module is not literal, or the call gives another module than it names
    (`__import__("a.b")` gives `a`).
    """
    name = importer_name(call)
    if not name or not call.args:
        return None
    target = call.args[0]
    if not isinstance(target, ast.Constant) or not isinstance(target.value, str):
        return None
    module, _, symbol = target.value.partition(":") if name == _SYMBOL else (target.value, "", "")
    level = len(module) - len(module.lstrip("."))
    module = module[level:]
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    if name == "__import__" and ("." in module or len(call.args) > 1):
        return None
    if level:
        package = _package_argument(call)
        if isinstance(package, ast.Constant) and isinstance(package.value, str):
            parts = package.value.split(".")
            if level > len(parts):
                return None
            module = ".".join((*parts[: len(parts) - level + 1], module))
            level = 0
        elif not (isinstance(package, ast.Name) and package.id in _OWN_PACKAGE):
            return None
    return Import(
        form="importorskip" if name == "importorskip" else "import_module",
        module=module,
        level=level,
        name=symbol.partition(".")[0] or None,
        bound=bound,
        span=source.span(call),
        statement=source.statement_span(statement),
        scope=scope,
        guard=guard,
        renamed=bool(bound),
    )


def _package_argument(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "package":
            return keyword.value
    return call.args[1] if len(call.args) > 1 else None
