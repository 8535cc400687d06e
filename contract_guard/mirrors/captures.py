"""What passes between a test, production and the doubles that stand in for parts of it."""

import ast

from contract_guard.mirrors.assertions import is_asserting_name
from contract_guard.mirrors.graph import Imported, is_production
from contract_guard.mirrors.operations import ARRAY_METHODS, canonical_method
from contract_guard.mirrors.scopes import (
    Frame,
    all_functions,
    arguments_of,
    dotted_name,
    every_node,
    imports_of,
    root_name,
    walk_function,
)

MOCKS = frozenset({"MagicMock", "Mock", "AsyncMock", "patch", "object", "create_autospec"})
_WRITING = frozenset({"append", "extend", "add", "update", "insert", "setdefault"})


def given_names(node: ast.AST, module: Frame, production: frozenset[str] | None) -> frozenset[str]:
    """Local names that a test passes to production, or to a double that feeds production."""
    local: dict[str, bool] = {}
    functions: set[str] = set()
    calls: list[ast.Call] = []
    for child in every_node(node):
        if isinstance(child, (ast.Name, ast.Attribute, ast.Constant)):
            continue
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and child is not node:
            functions.add(child.name)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            for name, value in imports_of(child):
                local[name] = is_production(value.dotted, production)
        elif isinstance(child, ast.Assign):
            for target in child.targets:
                for name in _names(target):
                    local.setdefault(name, isinstance(child.value, ast.Call))
            if any(
                isinstance(t, ast.Attribute) and t.attr in ("return_value", "side_effect")
                for t in child.targets
            ):
                calls.append(ast.Call(ast.Name("patch"), [child.value], []))
        elif isinstance(child, ast.Call):
            calls.append(child)
    given: set[str] = set()
    for call in calls:
        dotted = dotted_name(call.func)
        root = root_name(call.func)
        last = dotted.rsplit(".", 1)[-1]
        if is_asserting_name(last) or root in functions:
            continue
        value = module.env.get(root)
        if last in MOCKS or "patch" in dotted:
            feeds = True
        elif isinstance(call.func, ast.Name):
            feeds = local.get(root, False) or (
                isinstance(value, Imported) and is_production(value.dotted, production)
            )
        elif isinstance(value, Imported) and root not in local:
            feeds = is_production(value.dotted, production)
        else:
            feeds = local.get(root, False) and canonical_method(last) not in ARRAY_METHODS
        if feeds:
            for argument in (*call.args, *(k.value for k in call.keywords)):
                if isinstance(argument, ast.Starred):
                    argument = argument.value
                if isinstance(argument, (ast.List, ast.Tuple)):
                    given.update(n.id for n in ast.walk(argument) if isinstance(n, ast.Name))
                elif isinstance(argument, ast.Name):
                    given.add(argument.id)
    return frozenset(given)


def captured_names(node: ast.AST) -> frozenset[str]:
    """Names of a test that a nested function which the test does not call itself writes into."""
    nested = list(all_functions(node))
    if not nested:
        return frozenset()
    called = {
        n.func.id
        for n in walk_function(node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    captured: set[str] = set()
    for child in nested:
        if child.name in called:
            continue
        own = {a.arg for a in arguments_of(child.args)}
        stored: set[str] = set()
        for inner in walk_function(child):
            if isinstance(inner, ast.Nonlocal):
                stored.update(inner.names)
            elif isinstance(inner, (ast.Subscript, ast.Attribute)) and isinstance(
                inner.ctx, ast.Store
            ):
                stored.add(root_name(inner))
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                own.add(inner.id)
            elif (
                isinstance(inner, ast.Call)
                and isinstance(inner.func, ast.Attribute)
                and inner.func.attr in _WRITING
            ):
                stored.add(root_name(inner.func))
        nonlocal_names = {
            n for i in walk_function(child) if isinstance(i, ast.Nonlocal) for n in i.names
        }
        captured |= (stored - own) | nonlocal_names
    return frozenset(captured - {"self", ""})


def _names(target: ast.expr) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
