"""CG107: a keyword of a call follows the parameter that has another name now."""

import ast
from collections.abc import Callable

from contract_guard.facts.model import ModuleFacts, Parameter, Signature, Span, Unreadable
from contract_guard.facts.reader import read
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge, Safety
from contract_guard.fixes.successor import binding_of
from contract_guard.registry.callables import callable_of
from contract_guard.registry.index import Registry


def outdated_call(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """Safe where the function is the same but for the name, unsafe where the parameter only stands
    at the same place."""
    symbol, old = finding.symbol, knowledge.old
    before = callable_of(old, symbol) if old is not None else None
    after = callable_of(knowledge.registry, symbol)
    if before is None or after is None:
        raise CannotFix("only `diff` knows the parameters that it had")
    names = renamed_parameters(before.signature, after.signature)
    call = _call_at(file, finding)
    known = {parameter.name for parameter in after.signature.parameters}
    given = {keyword.arg for keyword in call.keywords}
    edits: list[Edit] = []
    used: dict[str, str] = {}
    for keyword in call.keywords:
        name = keyword.arg
        if name is None or name in known:
            continue
        if name not in names:
            raise CannotFix(f"nothing is certain to have taken the place of `{name}`")
        if names[name] in given:
            raise CannotFix(f"the call gives `{names[name]}` already")
        used[name] = names[name]
        line, column = file.source.span(keyword)[:2]
        where = Span(line, column, line, column + len(name))
        if file.cut(where) != name:
            raise CannotFix(f"where line {line} names `{name}` cannot be told exactly")
        edits.append(file.edit(where, names[name]))
    if not edits:
        raise CannotFix("no keyword of the call is at fault")
    was = _code(old, knowledge.read_old, symbol, names)
    is_same = was is not None and was == _code(knowledge.registry, knowledge.read, symbol, {})
    safety: Safety = "safe" if is_same else "unsafe"
    told = ", ".join(f"`{old}` is now `{new}`" for old, new in used.items())
    return Fix(safety, f"parameter {told}", tuple(edits))


def renamed_parameters(before: Signature, after: Signature) -> dict[str, str]:
    """New names of parameters by their old ones: where one is gone and a new one of the same kind,
    as necessary as it was, has its place. One that may be given by name alone has no place; there
    it has to be the only one."""
    were, are = ({p.name for p in each.parameters} for each in (before, after))
    gone = [p for p in before.parameters if p.name not in are]
    came = [p for p in after.parameters if p.name not in were]
    found: dict[str, str] = {}
    for old in gone:
        if old.kind == "keyword-only":
            there = [p for p in came if p.kind == old.kind] if _count(gone, old.kind) == 1 else []
        else:
            place = before.parameters.index(old)
            there = [p for p in after.parameters[place : place + 1] if p in came]
        if len(there) == 1 and (there[0].kind, there[0].default) == (old.kind, old.default):
            found[old.name] = there[0].name
    return found


def _count(parameters: list[Parameter], kind: str) -> int:
    return sum(parameter.kind == kind for parameter in parameters)


def _call_at(file: File, finding: Finding) -> ast.Call:
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and file.source.span(node) == span:
            return node
    raise CannotFix("the call could not be found again")


def _code(
    registry: Registry | None,
    read_file: Callable[[str], bytes],
    symbol: str,
    names: dict[str, str],
) -> str | None:
    """What a call of the symbol runs, without its docstring and with some names replaced, as text;
    None where that is no function that it defines itself."""
    binding = binding_of(registry, symbol)
    if binding is not None and binding.kind == "class":
        binding = binding_of(registry, f"{symbol}.__init__")
    if registry is None or binding is None:
        return None
    for module in registry.modules.named(symbol.partition(":")[0]):
        if isinstance(registry.tree.files.get(module.path), ModuleFacts):
            parsed = read(read_file(module.path))
            if isinstance(parsed, Unreadable):
                return None
            _, tree = parsed
            for node in ast.walk(tree):
                is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                if is_function and (node.name, node.lineno) == (binding.name, binding.span.line):
                    return _text(node, names)
    return None


def _text(node: ast.FunctionDef | ast.AsyncFunctionDef, names: dict[str, str]) -> str:
    if ast.get_docstring(node) is not None:
        node.body[:1] = []
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            each.id = names.get(each.id, each.id)
        elif isinstance(each, ast.arg):
            each.arg = names.get(each.arg, each.arg)
    return ast.dump(node)
