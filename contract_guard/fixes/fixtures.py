"""CG106: a test asks for its fixture by the name that it has now."""

import ast
from collections.abc import Iterator

from contract_guard.detectors.fixtures import close_fixture, visible_fixtures
from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge, Safety
from contract_guard.fixes.successor import must_exist
from contract_guard.registry.index import Registry

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def missing_fixture(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """The parameter, its uses and the marks that ask for it are renamed. Safe where a change gave
    the same code another name; unsafe where only the names are alike."""
    old, new, safety = _names(file, finding, knowledge)
    visible = visible_fixtures(knowledge.registry, file.path)
    if visible is None or new not in visible:
        raise CannotFix(f"it is now `{new}`, which the test does not see")
    function = _function_at(file, finding)
    edits = [*_renamed(file, function, old, new)]
    node: ast.AST = function
    while (node := file.names.parents.get(node, file.tree)) is not file.tree:
        if isinstance(node, ast.ClassDef):
            edits += _marks_renamed(file, node, old, new)
    if not edits:
        raise CannotFix("where the test asks for it cannot be told")
    edits += _marks_renamed(file, file.tree, old, new)
    return Fix(safety, f"the fixture `{old}` is now `{new}`", tuple(edits))


def _names(file: File, finding: Finding, knowledge: Knowledge) -> tuple[str, str, Safety]:
    """How the fixture was asked for, how it is now, and how certain that is."""
    if ":" not in finding.symbol:
        close = close_fixture(knowledge.registry, file.path, finding.symbol)
        if close is None:
            raise CannotFix("the test does not see the fixture")
        return finding.symbol, close, "unsafe"
    was = _requested(knowledge.old, finding.symbol)
    if was is None:
        raise CannotFix("only `diff` knows the name that it had")
    same_function = _requested(knowledge.registry, finding.symbol)
    if same_function is not None:
        return was, same_function, "safe"
    found = must_exist(knowledge, finding.symbol)
    now = _requested(knowledge.registry, found.symbol)
    if now is None:
        raise CannotFix(f"`{found.symbol}` is no fixture")
    return was, now, found.safety


def _requested(registry: Registry | None, symbol: str) -> str | None:
    """The name by which tests ask for the fixture that a function is; None for no fixture."""
    module, _, qualname = symbol.partition(":")
    for each in registry.modules.named(module) if registry is not None else ():
        for fixture in each.facts.pytest.fixtures if each.facts is not None else ():
            if fixture.qualname == qualname:
                return fixture.name
    return None


def _function_at(file: File, finding: Finding) -> _Function:
    for node in ast.walk(file.tree):
        if isinstance(node, _Function):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first <= finding.line <= node.body[0].lineno:
                return node
    raise CannotFix("the test could not be found again")


def _renamed(file: File, function: _Function, old: str, new: str) -> Iterator[Edit]:
    """The parameter, the names that mean it, and texts that ask for the fixture."""
    arguments = function.args
    given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    parameter = next((each for each in given if each.arg == old), None)
    words = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    words |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)} - {old}
    words.update(_bound_otherwise(function))
    if new in words:
        raise CannotFix(f"`{new}` means something else in the test")
    if parameter is not None:
        if old in _bound_otherwise(function):
            raise CannotFix(f"`{old}` means something else in the test, too")
        line, column = file.source.span(parameter)[:2]
        where = Span(line, column, line, column + len(old))
        if file.cut(where) != old:
            raise CannotFix(f"where line {line} names `{old}` cannot be told exactly")
        yield file.edit(where, new)
        home = file.names.scope_at(function.body[0])
        for use in file.names.uses(old, home):
            edit = file.edit(use, new)
            if file.cut(edit.span) != old:
                raise CannotFix(f"where line {use.lineno} names `{old}` cannot be told exactly")
            yield edit
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        for text in call.args:
            if isinstance(text, ast.Constant) and text.value == old:
                name = ast.unparse(call.func).rpartition(".")[2]
                if name not in ("usefixtures", "getfixturevalue"):
                    raise CannotFix(f"line {text.lineno} names it in a text")
                yield _text_renamed(file, text, old, new)


def _marks_renamed(
    file: File, owner: ast.ClassDef | ast.Module, old: str, new: str
) -> Iterator[Edit]:
    """The `usefixtures` that a class or a module gives all its tests."""
    marks = list(owner.decorator_list) if isinstance(owner, ast.ClassDef) else []
    for statement in owner.body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            marks += [statement.value] if "pytestmark" in names else []
    for call in (node for mark in marks for node in ast.walk(mark) if isinstance(node, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] == "usefixtures":
            for text in call.args:
                if isinstance(text, ast.Constant) and text.value == old:
                    yield _text_renamed(file, text, old, new)


def _text_renamed(file: File, text: ast.Constant, old: str, new: str) -> Edit:
    head, found, tail = file.source.segment(text).rpartition(old)
    if not found:
        raise CannotFix(f"line {text.lineno} names it in parts")
    return file.edit(text, head + new + tail)


def _bound_otherwise(function: _Function) -> Iterator[str]:
    """The names that are bound or declared in a function by other nodes than names and
    parameters: imports, handlers, patterns, inner functions and classes."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif node is not function:
            for field in ("name", "rest"):
                if isinstance(bound := getattr(node, field, None), str):
                    yield bound
