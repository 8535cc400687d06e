"""CG201 and CG202 imported constants, CG203 copied literals, CG204 pinned constants."""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.statement import cut
from contract_guard.facts.fold import NotFoldable
from contract_guard.facts.model import ModuleFacts, Test
from contract_guard.findings import Finding
from contract_guard.registry import guards
from contract_guard.registry.module import Module
from contract_guard.registry.risk import production_constant

_CONSTANT = re.compile(r"_{0,2}[A-Z][A-Z0-9_]*\Z")


def constant_imports(context: Context) -> Iterable[Finding]:
    """CG201 and CG202: module-level imports of production constants in the test tree."""
    registry = context.registry
    for path, facts in registry.facts():
        if not registry.layout.is_test(path):
            continue
        for imp in facts.imports:
            if imp.name is None or not guards.fatal_at_import(facts, imp.scope, imp.guard):
                continue
            constant = production_constant(context.registry, registry.resolve_import(path, imp))
            if constant is None:
                continue
            name = constant.symbol.partition(":")[2]
            private = name.startswith("_")
            tests = sum(test.cases for test in facts.pytest.tests)
            verb = "hangs" if tests == 1 else "hang"
            hang = f": {_tests(tests)} of this file {verb} on its name" if tests else ""
            yield context.finding(
                "CG202" if private else "CG201",
                "note",
                Site(path, facts, imp.span, imp.statement, imp.scope, imp.guard),
                constant.symbol,
                f"imports the {'private ' * private}constant `{constant.symbol}` at module level"
                + hang,
                f"`contract-guard registry who {name}` shows who else leans on it",
                identity=f"from {'.' * imp.level}{imp.module} import {imp.name}",
            )


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def copied_literals(context: Context) -> Iterable[Finding]:
    """CG203: a distinctive literal with the value of a constant of a module imported here."""
    registry = context.registry
    values: dict[int, dict[str, list[str]]] = {}
    for path, facts in registry.facts():
        if not facts.literals or not registry.layout.is_test(path):
            continue
        patched = {(p.attribute or p.target).rpartition(".")[2] for p in facts.patches}
        leaning = production_modules(context, path, facts)
        for literal in facts.literals:
            symbols = [
                symbol
                for module in leaning
                for symbol in _constants_of(context, module, values).get(literal.value, ())
            ]
            if len(symbols) != 1 or symbols[0].partition(":")[2] in patched:
                continue
            if _is_loaded_beside(facts, literal.scope, symbols[0].partition(":")[2]):
                continue  # compared with the constant: it cannot stay behind unseen
            yield context.finding(
                "CG203",
                "note",
                Site(path, facts, literal.span, literal.span, literal.scope, -1),
                symbols[0],
                f"{literal.value} repeats the value of `{symbols[0]}`: this place stays behind "
                "when the constant changes",
                "import the constant, or say in a comment that the value itself is the contract",
                identity=literal.value,
            )


def _is_loaded_beside(facts: ModuleFacts, scope: int, name: str) -> bool:
    """Whether the scope loads an import of this name, or an attribute of it."""
    return any(
        load.scope == scope and any(facts.imports[i].name == name for i in load.imported)
        for load in facts.loads
    ) or any(use.scope == scope and use.chain[-1] == name for use in facts.uses)


def production_modules(context: Context, path: str, facts: ModuleFacts) -> list[Module]:
    """The modules outside of the tests that a file imports."""
    modules = context.registry.modules
    here = context.registry.module(path)
    found: dict[int, Module] = {}
    for imp in facts.imports:
        named = modules.locate_import(here, imp).modules[:1]
        children = [modules.child(module, imp.name) for module in named if imp.name]
        for module in (*named, *(child for child in children if child is not None)):
            if module.tree or not context.registry.layout.is_test(module.path):
                found[id(module)] = module
    return list(found.values())


def _constants_of(
    context: Context, module: Module, known: dict[int, dict[str, list[str]]]
) -> dict[str, list[str]]:
    """Symbols of the module's own constants by the literal text of their value."""
    values = known.get(id(module))
    if values is None:
        values = known[id(module)] = {}
        for name, bindings in module.bindings.items():
            if _CONSTANT.match(name) and all(b.kind == "assign" for b in bindings):
                symbol = f"{module.name}:{name}"
                try:
                    values.setdefault(repr(context.registry.value_of(symbol)), []).append(symbol)
                except NotFoldable:
                    continue
    return values


def pinned_constants(context: Context) -> Iterable[Finding]:
    """CG204: tests whose every statement asserts that a constant equals a literal."""
    registry = context.registry
    for path, facts in registry.facts():
        if not facts.pytest.tests or not registry.layout.is_test_module(path):
            continue
        loading = _scopes_with_constants(context, path, facts)
        for test in facts.pytest.tests:
            if test.scope in loading:
                yield from _pinned(context, path, facts, test)


def _scopes_with_constants(context: Context, path: str, facts: ModuleFacts) -> set[int]:
    """Scopes that load a production constant."""
    registry = context.registry
    constants = {
        index
        for index, imp in enumerate(facts.imports)
        if imp.name is not None
        and _CONSTANT.match(imp.name)
        and production_constant(registry, registry.resolve_import(path, imp))
    }
    found = {load.scope for load in facts.loads if not constants.isdisjoint(load.imported)}
    return found | {
        use.scope
        for use in facts.uses
        if _CONSTANT.match(use.chain[-1])
        and production_constant(registry, registry.resolve_use(path, use))
    }


def _pinned(context: Context, path: str, facts: ModuleFacts, test: Test) -> Iterator[Finding]:
    body = _body(cut(context.text(path), facts.scopes[test.scope].span))
    names = [_asserted(statement) for statement in body]
    if not names or "" in names:
        return
    registry = context.registry
    found = [production_constant(registry, registry.resolve_name(path, name)) for name in names]
    constants = [producer.symbol for producer in found if producer is not None]
    if len(constants) == len(names):
        listed = ", ".join(f"`{symbol}`" for symbol in dict.fromkeys(constants))
        yield context.finding(
            "CG204",
            "note",
            Site(path, facts, test.span, test.span, test.scope, -1),
            constants[0],
            f"this test only repeats the value of {listed}: it fails when somebody changes it on "
            "purpose, and for no other reason",
            "test what the constant is for, or name the contract that fixes its value",
            identity=" ".join(names),
        )


def _body(function: str) -> list[ast.stmt]:
    """The statements of a function, given as source text, without its docstring."""
    tree = ast.parse(textwrap.dedent(function))
    (node,) = tree.body
    if not isinstance(node, ast.FunctionDef):
        return []
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def _asserted(statement: ast.stmt) -> str:
    """`a.B` of `assert a.B == literal`, in either order, "" for anything else."""
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return ""
    compare = statement.test
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], ast.Eq | ast.Is):
        return ""
    for name, value in (
        (compare.left, compare.comparators[0]),
        (compare.comparators[0], compare.left),
    ):
        if isinstance(name, ast.Name | ast.Attribute) and _is_literal(value):
            return ast.unparse(name)
    return ""


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
