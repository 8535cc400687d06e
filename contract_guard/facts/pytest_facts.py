"""What pytest's default rules would collect from a file: tests, fixtures, hooks, marks."""

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from contract_guard.facts.bindings import name_span
from contract_guard.facts.constants import Constants
from contract_guard.facts.fold import NotFoldable, is_text, names_in
from contract_guard.facts.model import Fixture, PytestFacts, Test
from contract_guard.facts.observations import (
    ClassRecord,
    FunctionNode,
    FunctionRecord,
    Observations,
)
from contract_guard.facts.parametrization import MAX_IDS, Cases, Sizes, bounded_count, cases_of
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import callee, dotted

# Fixtures that come with pytest and are not parametrized.
_BUILTIN_FIXTURES = frozenset(
    {
        "cache",
        "capfd",
        "capfdbinary",
        "caplog",
        "capsys",
        "capsysbinary",
        "doctest_namespace",
        "monkeypatch",
        "pytestconfig",
        "record_property",
        "record_testsuite_property",
        "record_xml_attribute",
        "recwarn",
        "request",
        "subtests",
        "testdir",
        "pytester",
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
        "tmpdir_factory",
    }
)


def pytest_facts_of(notes: Observations, constants: Constants) -> PytestFacts:
    return _Collector(notes, constants).facts()


class _Collector:
    def __init__(self, notes: Observations, constants: Constants) -> None:
        self._notes = notes
        self._constants = constants
        self._functions: dict[ScopeRecord, dict[str, FunctionRecord]] = {}
        for function in notes.functions:
            self._functions.setdefault(function.here.scope, {})[function.node.name] = function
        self._fixtures: dict[str, Fixture] = {}

    def facts(self) -> PytestFacts:
        fixtures = tuple(self._all_fixtures())
        self._fixtures = {fixture.name: fixture for fixture in fixtures}
        functions = self._functions.get(self._notes.module, {})
        return PytestFacts(
            tests=tuple(self._tests()),
            fixtures=fixtures,
            plugins=self._plugins(),
            hooks=tuple([name for name in functions if name.startswith("pytest_")]),
            module_skip=self._module_skip(),
            marks=tuple([name for mark in self._module_marks() if (name := _mark_name(mark))]),
        )

    # Tests

    def _tests(self) -> Iterator[Test]:
        module = self._notes.module
        module_marks = self._module_marks()
        functions = self._functions.get(module, {})
        for name, function in functions.items():
            if name.startswith("test") and not _is_fixture(function.node):
                yield self._test(function, name, "", (), module_marks, unittest=False)
        classes = self._classes_in(module)
        for name in classes:
            yield from self._class_tests(name, "", classes, module_marks)

    def _classes_in(self, scope: ScopeRecord) -> dict[str, ClassRecord]:
        return {
            record.node.name: record for record in self._notes.classes if record.here.scope is scope
        }

    def _class_tests(
        self,
        name: str,
        outer: str,
        classes: dict[str, ClassRecord],
        marks: Sequence[ast.expr],
    ) -> Iterator[Test]:
        record = classes[name]
        lineage = _lineage(record, classes)
        unittest = any(
            dotted(base).endswith("TestCase") for member in lineage for base in member.node.bases
        )
        if not unittest and not name.startswith("Test"):
            return
        bound: dict[str, FunctionRecord | None] = {}
        for member in reversed(lineage):
            functions = self._functions.get(member.scope, {})
            for item in self._notes.bindings[member.scope]:
                bound[item.name] = functions.get(item.name) if item.kind == "function" else None
                if item.name == "__test__" and item.kind == "assign":
                    off = isinstance(item.value, ast.Constant) and not item.value.value
                    if off and member is record:
                        return
        if not unittest and ("__init__" in bound or "__new__" in bound):
            return
        qualname = f"{outer}.{name}" if outer else name
        class_marks = [mark for member in lineage for mark in self._class_marks(member)]
        for method, function in bound.items():
            if function is None or not method.startswith("test") or _is_fixture(function.node):
                continue
            yield self._test(function, f"{qualname}.{method}", name, class_marks, marks, unittest)
        nested = self._classes_in(record.scope)
        for inner in nested:
            yield from self._class_tests(inner, qualname, nested, [*class_marks, *marks])

    def _class_marks(self, record: ClassRecord) -> list[ast.expr]:
        marks = list(reversed(record.node.decorator_list))
        for item in self._notes.bindings[record.scope]:
            if item.name == "pytestmark" and item.value is not None:
                marks.extend(_listed(item.value))
        return marks

    def _module_marks(self) -> list[ast.expr]:
        marks: list[ast.expr] = []
        for item in self._notes.bindings[self._notes.module]:
            if item.name == "pytestmark" and item.value is not None:
                marks.extend(_listed(item.value))
        return marks

    def _test(
        self,
        function: FunctionRecord,
        qualname: str,
        owner: str,
        class_marks: Sequence[ast.expr],
        module_marks: Sequence[ast.expr],
        unittest: bool,
    ) -> Test:
        node = function.node
        own = list(reversed(node.decorator_list))
        count, exact = 1, True
        ids: list[str] | None = [""]
        names: set[str] = set()
        for mark in (*own, *class_marks, *module_marks):
            cases = cases_of(mark, self._constants, owner)
            if cases is None:
                continue
            count, bounded = bounded_count(count * cases.total)
            exact = exact and cases.exact and bounded
            names.update(cases.names)
            ids = _combined(ids, cases)
        arguments = _requested(node, owner != "", names, unittest)
        used = [name for mark in (*own, *class_marks) for name in self._used_fixtures(mark)]
        arguments = tuple(dict.fromkeys((*arguments, *used)))
        if ids is None or ids == [""] or not self._plain(arguments):
            ids = []
        arguments = tuple(dict.fromkeys((*arguments, *self._looked_up(function, arguments))))
        return Test(
            qualname=qualname,
            scope=self._notes.scope_index(function.scope),
            span=name_span(node, self._notes.source),
            cases=count,
            exact=exact,
            arguments=arguments,
            marks=tuple(
                dict.fromkeys(name for mark in (*own, *class_marks) if (name := _mark_name(mark)))
            ),
            ids=tuple(ids),
            is_named=self._is_named(function),
        )

    def _is_named(self, function: FunctionRecord) -> bool:
        return any(
            function.scope not in (scope, *scope.ancestors())
            for scope in self._named_tests.get(function.node.name, ())
        )

    @cached_property
    def _named_tests(self) -> dict[str, set[ScopeRecord]]:
        """Where each name that a test may have is loaded, or called through something."""
        notes = self._notes
        found: dict[str, set[ScopeRecord]] = {}
        for scope in notes.every_scope():
            for name in scope.loads:
                if name.startswith("test"):
                    found.setdefault(name, set()).add(scope)
        for chain in notes.chains:
            if chain.outer.attr.startswith("test"):
                found.setdefault(chain.outer.attr, set()).add(chain.here.scope)
        for name, calls in notes.calls_by_name.items():
            if name.startswith("test"):
                found.setdefault(name, set()).update(here.scope for _, here in calls)
        return found

    def _looked_up(self, function: FunctionRecord, arguments: Sequence[str]) -> Iterator[str]:
        """What `request.getfixturevalue("name")` asks for, whatever happens before it."""
        if "request" not in arguments:
            return
        for call, here in self._notes.calls_by_name.get("getfixturevalue", ()):
            if here.scope is not function.scope or here.guard is not None or not call.args:
                continue
            text = self._constants.text(call.args[0])
            if text is not None and callee(call) == "request.getfixturevalue":
                yield text

    def _plain(self, arguments: Sequence[str]) -> bool:
        """Whether no requested fixture can add to the ids, as far as this file tells."""
        for name in arguments:
            fixture = self._fixtures.get(name)
            if fixture is None:
                if name not in _BUILTIN_FIXTURES:
                    return False
            elif fixture.cases != 1 or not fixture.exact or fixture.arguments:
                return False
        return all(
            fixture.cases == 1 and fixture.exact
            for fixture in self._fixtures.values()
            if fixture.autouse
        )

    def _used_fixtures(self, mark: ast.expr) -> list[str]:
        if isinstance(mark, ast.Call) and _mark_name(mark) == "usefixtures":
            texts = [self._constants.text(argument) for argument in mark.args]
            return [text for text in texts if text is not None]
        return []

    # Fixtures and the rest

    def _all_fixtures(self) -> Iterator[Fixture]:
        classes = {record.scope: record for record in self._notes.classes}
        for function in self._notes.functions:
            scope = function.here.scope
            if scope.kind not in ("module", "class"):
                continue
            for decorator in function.node.decorator_list:
                if _is_fixture_decorator(decorator):
                    owner = classes[scope].node.name if scope.kind == "class" else None
                    yield self._fixture(function, decorator, owner)
                    break

    def _fixture(self, function: FunctionRecord, decorator: ast.expr, owner: str | None) -> Fixture:
        node = function.node
        name, autouse, count, exact = node.name, False, 1, True
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                if keyword.arg == "name":
                    name = self._constants.text(keyword.value) or name
                elif keyword.arg == "autouse":
                    autouse = not (
                        isinstance(keyword.value, ast.Constant) and not keyword.value.value
                    )
                elif keyword.arg == "params":
                    length = Sizes(self._constants, owner or "").length(keyword.value)
                    count, exact = bounded_count(length)
        return Fixture(
            name=name,
            qualname=function.scope.qualname,
            span=name_span(node, self._notes.source),
            guard=self._notes.guards.index(function.here.guard),
            arguments=_requested(node, owner is not None, set(), unittest=False),
            autouse=autouse,
            class_name=owner,
            cases=count,
            exact=exact,
        )

    def _plugins(self) -> tuple[str, ...]:
        node = self._constants.node("pytest_plugins")
        if node is None:
            return ()
        try:
            value = self._constants.fold(node)
        except NotFoldable:
            return ()
        return (value,) if is_text(value) else tuple(names_in(value) or ())

    def _module_skip(self) -> str | None:
        for call, here in self._notes.calls_by_name.get("skip", ()):
            if here.scope is not self._notes.module or here.guard is not None:
                continue
            if any(keyword.arg == "allow_module_level" for keyword in call.keywords):
                return self._notes.source.short(call)
        return None


def _lineage(record: ClassRecord, classes: dict[str, ClassRecord]) -> list[ClassRecord]:
    """The class and its bases in the same scope, nearest first."""
    found = [record]
    seen = {record.node.name}
    for member in found:
        for base in member.node.bases:
            name = dotted(base)
            if name in classes and name not in seen:
                seen.add(name)
                found.append(classes[name])
    return found


def _combined(ids: list[str] | None, cases: Cases) -> list[str] | None:
    if ids is None or cases.ids is None or len(ids) * len(cases.ids) > MAX_IDS:
        return None
    return [f"{first}-{second}" if first else second for first in ids for second in cases.ids]


def _listed(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def _mark_name(node: ast.expr) -> str:
    """`skipif` for `pytest.mark.skipif(...)`, "" for what is no mark."""
    head, _, name = callee(node).rpartition(".")
    return name if head == "mark" or head.endswith(".mark") else ""


def _is_fixture_decorator(node: ast.expr) -> bool:
    return callee(node).rpartition(".")[2] in ("fixture", "yield_fixture")


def _is_fixture(node: FunctionNode) -> bool:
    return any(_is_fixture_decorator(decorator) for decorator in node.decorator_list)


def _requested(
    node: FunctionNode, is_method: bool, parametrized: set[str], unittest: bool
) -> tuple[str, ...]:
    """The fixtures that pytest looks up for the parameters of a function."""
    if unittest:
        return ()
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.defaults:
        positional = positional[: -len(arguments.defaults)]
    names = [argument.arg for argument in positional]
    names.extend(
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    )
    static = any(callee(d) == "staticmethod" for d in node.decorator_list)
    if is_method and not static:
        names = names[1:]
    names = names[sum(_injects_mock(decorator) for decorator in node.decorator_list) :]
    return tuple([name for name in names if name not in parametrized])


def _injects_mock(decorator: ast.expr) -> bool:
    """Whether a `patch` decorator passes its mock as a positional argument."""
    if not isinstance(decorator, ast.Call):
        return False
    name = callee(decorator)
    if any(keyword.arg in ("new", "new_callable") for keyword in decorator.keywords):
        return any(k.arg == "new_callable" for k in decorator.keywords)
    if name.endswith("patch.object"):
        return len(decorator.args) < 3
    return (name == "patch" or name.endswith(".patch")) and len(decorator.args) < 2
