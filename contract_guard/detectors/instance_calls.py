"""Calls of methods on objects whose class is plain to see in a file: `obj = C()` bound once,
`C().method()`, `self.method()`, `super().method()`."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from contract_guard.detectors.guarded import GuardedVisitor
from contract_guard.facts.model import Import
from contract_guard.facts.source import dotted
from contract_guard.registry.guards import Error
from contract_guard.registry.index import Registry

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class InstanceCall(NamedTuple):
    """A call, and the symbol of the method that it runs."""

    node: ast.Call
    symbol: str


def instance_calls(
    registry: Registry, path: str, tree: ast.Module, methods: Collection[str], error: Error
) -> Iterator[InstanceCall]:
    """The calls in a file that run one of `methods` (symbols), where `error` is not caught. A call
    on `self` is left out where another class of the project defines such a method: `self` may be
    of that class."""
    visitor = _Visitor(registry, path, tree, methods, error)
    visitor.visit(tree)
    yield from visitor.found


class _Frame:
    """What one function, or the module, binds: how often each name, and what to."""

    def __init__(self, node: ast.Module | _Function) -> None:
        self.bound: dict[str, int] = {}
        self.values: dict[str, ast.expr] = {}
        self.strings: set[str] = set()  # the last parts of dotted ones
        self.stored: set[str] = set()  # `obj.attr` of `obj.attr = ...`
        self.first = ""
        if not isinstance(node, ast.Module):
            given = node.args
            parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            parameters += [each for each in (given.vararg, given.kwarg) if each is not None]
            for parameter in parameters:
                self._bind(parameter.arg)
            positional = [*given.posonlyargs, *given.args]
            self.first = positional[0].arg if positional else ""
            for decorator in node.decorator_list:
                self._note(decorator)
        for child in node.body:
            self._note(child)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, _Function | ast.ClassDef):
            self._bind(node.name)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Global | ast.Nonlocal):
                    self._rebind(inner.names)
            return
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                self.values[target.id] = node.value
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            self.stored.add(dotted(node))
        elif isinstance(node, ast.arg):
            self._bind(node.arg)  # of a lambda
        elif isinstance(node, ast.alias):
            self._bind(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Global | ast.Nonlocal):
            self._rebind(node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self._bind(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.strings.add(node.value.rpartition(".")[2])
        for child in ast.iter_child_nodes(node):
            self._note(child)

    def _bind(self, name: str) -> None:
        self.bound[name] = self.bound.get(name, 0) + 1

    def _rebind(self, names: Iterable[str]) -> None:
        """Names that another scope binds too."""
        for name in names:
            self.bound[name] = 2


class _Visitor(GuardedVisitor):
    def __init__(
        self,
        registry: Registry,
        path: str,
        tree: ast.Module,
        methods: Collection[str],
        error: Error,
    ) -> None:
        super().__init__(error)
        self.found: list[InstanceCall] = []
        self._registry = registry
        self._path = path
        self._module = registry.module(path).name
        self._methods = methods
        self._names = {symbol.rpartition(".")[2] for symbol in methods}
        self._frames = [_Frame(tree)]
        self._classes: list[str] = []  # qualified names of the classes around
        self._self = ""  # the first parameter of the method around
        self._imports = _local_imports(registry, path)

    def _visit_function(self, node: _Function) -> None:
        for part in (*node.decorator_list, node.args):
            self.visit(part)
        frame = _Frame(node)
        before = self._self, self.is_guarded
        if self._classes and len(self._frames) == 1:
            is_plain = not node.decorator_list and frame.bound.get(frame.first) == 1
            self._self = frame.first if is_plain else ""
        self.is_guarded = False
        self._frames.append(frame)
        for child in node.body:
            self.visit(child)
        self._frames.pop()
        self._self, self.is_guarded = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if len(self._frames) > 1:
            return  # a class of a function has no name to ask for
        outer = f"{self._classes[-1]}." if self._classes else ""
        self._classes.append(f"{outer}{node.name}")
        self.generic_visit(node)
        self._classes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in self._names:
            symbol = "" if self.is_guarded else self._method(function)
            if symbol in self._methods:
                self.found.append(InstanceCall(node, symbol))
        self.generic_visit(node)

    def _method(self, function: ast.Attribute) -> str:
        """The symbol of the method that `value.name` gives, "" where that is not known."""
        value, name = function.value, function.attr
        if any(name in frame.strings for frame in self._frames):
            return ""  # it may be replaced by that name
        if isinstance(value, ast.Name):
            if any(f"{value.id}.{name}" in frame.stored for frame in self._frames):
                return ""
            if self._is_self(value.id):
                own = f"{self._module}:{self._classes[-1]}"
                symbol = self._attribute(own, name)
                return "" if self._has_others(name, symbol) else symbol
            bound = self._value(value.id)
            return self._of_call(bound, name) if bound is not None else ""
        if isinstance(value, ast.Call) and dotted(value.func) == "super":
            return self._above(name) if self._self and not value.args else ""
        return self._of_call(value, name)

    def _is_self(self, name: str) -> bool:
        return (
            bool(self._self)
            and name == self._self
            and not any(name in frame.bound for frame in self._frames[2:])
        )

    def _value(self, name: str) -> ast.expr | None:
        """What a name is bound to, once, in the innermost function that binds it."""
        for frame in reversed(self._frames):
            if name in frame.bound:
                return frame.values.get(name) if frame.bound[name] == 1 else None
        return None

    def _of_call(self, value: ast.expr, name: str) -> str:
        class_ = self._class(value.func) if isinstance(value, ast.Call) else ""
        return self._attribute(class_, name) if class_ else ""

    def _class(self, node: ast.expr) -> str:
        """The symbol of the class that an expression names."""
        text = dotted(node)
        root, _, attributes = text.partition(".")
        parts = set(attributes.split(".")) - {""}
        if any(not frame.strings.isdisjoint(parts) for frame in self._frames):
            return ""  # it may be replaced by that name
        for frame in reversed(self._frames[1:]):
            if root in frame.bound:
                imported = self._imports.get(root, ())
                if frame.bound[root] != 1 or len(imported) != 1 or root != text:
                    return ""
                found = self._registry.resolve_import(self._path, imported[0])
                break
        else:
            if not text or self._frames[0].bound.get(root) != 1:
                return ""
            found = self._registry.resolve_name(self._path, text)
        producer = found.producer
        is_class = producer is not None and producer.kind == "class" and found.status == "exists"
        return producer.symbol if producer is not None and is_class else ""

    def _attribute(self, class_: str, name: str) -> str:
        found = self._registry.resolve_symbol(f"{class_}.{name}")
        return found.producer.symbol if found.status == "exists" and found.producer else ""

    def _above(self, name: str) -> str:
        """What `super().name` gives in the class around, where its one base has it."""
        own = self._classes[-1]
        facts = self._registry.module(self._path).classes.get(own, ())
        if len(facts) != 1 or len(facts[0].bases) != 1 or not facts[0].bases[0]:
            return ""
        base = self._registry.resolve_name(self._path, facts[0].bases[0])
        if base.status != "exists" or base.producer is None or base.producer.kind != "class":
            return ""
        return self._attribute(base.producer.symbol, name)

    def _has_others(self, name: str, symbol: str) -> bool:
        """Whether another class than the symbol's defines the method."""
        owner = symbol.rpartition(".")[0]
        for module in self._registry.modules.mentioning(name):
            for qualname, classes in module.classes.items():
                is_other = f"{module.name}:{qualname}" != owner
                if is_other and any(m.name == name for c in classes for m in c.members):
                    return True
        return False


def _local_imports(registry: Registry, path: str) -> Mapping[str, list[Import]]:
    """The imports of a file that stand in functions, by the name that they bind."""
    found: dict[str, list[Import]] = {}
    facts = registry.module(path).facts
    for imported in facts.imports if facts is not None else ():
        if imported.scope > 0 and imported.bound:
            found.setdefault(imported.bound, []).append(imported)
    return found
