"""Every place of a file at which a name means one binding of it, by Python's scope rules."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False, slots=True)
class Scope:
    """A scope: `bound` counts the statements that bind each name in it."""

    node: ast.AST
    parent: "Scope | None" = None
    bound: dict[str, int] = field(default_factory=dict[str, int])
    outward: dict[str, str] = field(default_factory=dict[str, str])

    def home(self, name: str) -> "Scope | None":
        """The scope that `name`, used here, belongs to; None for builtins."""
        scope: Scope | None = self
        while scope is not None:
            if scope.outward.get(name) == "global":
                return scope.module()
            seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if seen and name in scope.bound and name not in scope.outward:
                return scope
            scope = scope.parent
        return None

    def module(self) -> "Scope":
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str) -> None:
        scope = self
        if self.outward.get(name) == "global":
            scope = self.module()
        scope.bound[name] = scope.bound.get(name, 0) + 1


class Names:
    """The scopes of a tree, and its names with the scope in which each stands."""

    def __init__(self, tree: ast.Module) -> None:
        self.top = Scope(tree)
        self.parents: dict[ast.AST, ast.AST] = {}
        self._names: list[tuple[ast.Name, Scope]] = []
        self._annotations: list[tuple[ast.Constant, Scope]] = []
        self._scopes: dict[ast.AST, Scope] = {tree: self.top}
        for parent in ast.walk(tree):
            for child in ast.iter_child_nodes(parent):
                self.parents[child] = parent
        self._declare(tree.body, self.top)
        self._visit(tree.body, self.top)

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope in which a statement stands."""
        while (node := self.parents.get(node, node)) not in self._scopes:
            pass
        return self._scopes[node]

    def uses(self, name: str, home: Scope | None) -> list[ast.Name]:
        """The places where `name` is the one bound in `home` (None: nowhere in the file), in
        order."""
        found = [n for n, scope in self._names if n.id == name and scope.home(name) is home]
        return sorted(found, key=lambda n: (n.lineno, n.col_offset))

    def is_ambiguous(self, name: str) -> bool:
        """Whether a class body both binds and reads `name`: which of two it reads there depends on
        what has run (`name = name`)."""
        return any(
            n.id == name and isinstance(n.ctx, ast.Load) and name in scope.bound
            for n, scope in self._names
            if isinstance(scope.node, ast.ClassDef)
        )

    def annotations(self, home: Scope) -> list[ast.Constant]:
        """Annotations in quotes whose names are looked up through `home`."""
        return [text for text, scope in self._annotations if home in _outward(scope)]

    def is_free(self, name: str) -> bool:
        """Whether nothing in the file binds or reads `name`."""
        return not any(n.id == name for n, _ in self._names) and not any(
            name in scope.bound or name in scope.outward for scope in self._scopes.values()
        )

    def _visit(self, nodes: Iterable[ast.AST], scope: Scope) -> None:
        stack = [(node, scope) for node in nodes]
        while stack:
            node, scope = stack.pop()
            if isinstance(node, ast.Name):
                self._names.append((node, scope))
                if not isinstance(node.ctx, ast.Load):
                    scope.bind(node.id)
            elif isinstance(node, ast.alias):
                if node.name != "*":
                    scope.bind(node.asname or node.name.partition(".")[0])
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
                if node.name:
                    scope.bind(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                scope.bind(node.rest)
            stack += self._children(node, scope)

    def _children(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        if isinstance(node, _FUNCTIONS):
            inner = self._enter(node, scope)
            arguments = node.args
            everything = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            for argument in (*everything, arguments.vararg, arguments.kwarg):
                if argument is not None:
                    inner.bind(argument.arg)
                    yield from self._annotation(argument.annotation, scope)
            outside = (*arguments.defaults, *(d for d in arguments.kw_defaults if d))
            yield from ((each, scope) for each in outside)
            if isinstance(node, ast.Lambda):
                yield node.body, inner
                return
            scope.bind(node.name)
            yield from ((each, scope) for each in node.decorator_list)
            yield from self._annotation(node.returns, scope)
            yield from ((each, inner) for each in self._parameters(node, inner))
            self._declare(node.body, inner)
            yield from ((each, inner) for each in node.body)
        elif isinstance(node, ast.ClassDef):
            inner = self._enter(node, scope)
            scope.bind(node.name)
            outside = (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
            yield from ((each, scope) for each in outside)
            yield from ((each, inner) for each in self._parameters(node, inner))
            self._declare(node.body, inner)
            yield from ((each, inner) for each in node.body)
        elif isinstance(node, _COMPREHENSIONS):
            inner = self._enter(node, scope)
            # The first iterable is evaluated outside.
            first = node.generators[0]
            yield first.iter, scope
            yield from ((each, inner) for each in (first.target, *first.ifs))
            rest = (n for n in ast.iter_child_nodes(node) if n is not first)
            yield from ((each, inner) for each in rest)
        elif isinstance(node, ast.NamedExpr):
            # A comprehension hands it to the scope around.
            outer = scope
            while isinstance(outer.node, _COMPREHENSIONS) and outer.parent is not None:
                outer = outer.parent
            yield node.target, outer
            yield node.value, scope
        elif isinstance(node, ast.AnnAssign):
            yield node.target, scope
            yield from self._annotation(node.annotation, scope)
            if node.value is not None:
                yield node.value, scope
        else:
            yield from ((each, scope) for each in ast.iter_child_nodes(node))

    def _enter(self, node: ast.AST, parent: Scope) -> Scope:
        scope = self._scopes[node] = Scope(node, parent)
        return scope

    def _parameters(self, node: ast.AST, inner: Scope) -> Iterator[ast.AST]:
        """Type parameters of Python 3.12."""
        for parameter in getattr(node, "type_params", ()):
            inner.bind(parameter.name)
            yield from ast.iter_child_nodes(parameter)

    def _annotation(
        self, annotation: ast.expr | None, scope: Scope
    ) -> Iterator[tuple[ast.AST, Scope]]:
        if annotation is None:
            return
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._annotations.append((node, scope))
        yield annotation, scope

    def _declare(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """The `global` and `nonlocal` statements of a body, which hold for all of it."""
        stack: list[ast.AST] = list(body)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Global | ast.Nonlocal):
                kind = "global" if isinstance(node, ast.Global) else "nonlocal"
                for name in node.names:
                    scope.outward[name] = kind
            elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
                node, (*_FUNCTIONS, ast.ClassDef)
            ):
                stack += ast.iter_child_nodes(node)


def _outward(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.parent
