"""Reading expressions: an explicit stack, as expressions may nest thousands deep."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from contract_guard.facts.digest import OPERATORS, TYPES, arity, constant_token
from contract_guard.facts.guards import GuardRecord, condition_kind, is_special, split_not
from contract_guard.facts.imports import IMPORTERS, dynamic_import, importer_name
from contract_guard.facts.literals import is_distinctive_int, is_distinctive_text
from contract_guard.facts.model import BindingKind
from contract_guard.facts.noting import NoteTaker, defaults_of
from contract_guard.facts.observations import Chain, Here
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import Source

Stack = list[ast.expr]
_Deferred = tuple[ScopeRecord, GuardRecord | None, Stack]


class ExpressionReader(NoteTaker):
    """Notes names, attribute chains, calls, conditions and literals of expressions."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._deferred: list[_Deferred] = []

    def target(
        self,
        node: ast.expr,
        kind: BindingKind,
        here: Here,
        value: ast.expr | None = None,
        path: tuple[int, ...] = (),
    ) -> None:
        """Note what an assignment target binds or stores; `path` leads from `value` to it."""
        if isinstance(node, ast.Name):
            self.tokens.append(node.id)
            self.bind(node.id, kind, node, here.statement, value, path)
        elif isinstance(node, ast.Attribute):
            self._store(node, here)
        elif isinstance(node, ast.Subscript):
            self.tokens.append("[")
            self.notes.subscript_stores.append((node, None if path else value, here))
            self.expressions((node.value, node.slice), here)
        elif isinstance(node, ast.Starred):
            self.target(node.value, kind, here)
        elif isinstance(node, ast.Tuple | ast.List):
            self.tokens.append(arity(len(node.elts)))
            for index, element in enumerate(node.elts):
                if isinstance(element, ast.Starred):
                    value = None  # what follows a star has no fixed index
                self.target(element, kind, here, value, (*path, index))

    def _store(self, node: ast.Attribute, here: Here) -> None:
        loaded = self.notes.loaded
        self.tokens.append(".")
        self.tokens.append(node.attr)
        root: ast.expr = node.value
        while isinstance(root, ast.Attribute):
            self.tokens.append(".")
            self.tokens.append(root.attr)
            loaded.add(root.attr)
            root = root.value
        if isinstance(root, ast.Name):
            loaded.add(root.id)
            self.tokens.append(root.id)
            self.notes.chains.append(Chain(root, node, "store", False, here))
        else:
            self.notes.attribute_stores.append((node, here))
            self.expression(root, here)

    # The loop

    def expressions(self, roots: Sequence[ast.expr], here: Here) -> None:
        """Read expressions that are evaluated at `here`, in order."""
        self._run(list(reversed(roots)), here)

    def expression(self, root: ast.expr, here: Here) -> None:
        """Read one expression that is evaluated at `here`."""
        self._run([root], here)

    def _run(self, stack: Stack, here: Here) -> None:
        """Read what is on the stack, the last first.

        Bodies of lambdas and comprehensions, and operands behind a guard, are put off until the
        rest is read.
        """
        first = len(self._deferred)
        self._read(stack, here)
        if len(self._deferred) > first:
            outer = self.scope, self.guard
            index = first
            while index < len(self._deferred):
                self.scope, self.guard, stack = self._deferred[index]
                self._read(stack, Here(self.scope, self.guard, here.statement))
                index += 1
            del self._deferred[first:]
            self.scope, self.guard = outer

    def _read(self, stack: Stack, here: Here) -> None:
        pop, push = stack.pop, stack.append
        notes = self.notes
        emit = self.tokens.append
        load = notes.loaded.add
        chain = notes.chains.append
        calls = notes.calls_by_name
        loads = self.scope.loads
        guard = here.guard
        called: ast.expr | None = None
        while stack:
            node = pop()
            if type(node) is ast.Name:
                name = node.id
                emit(name)
                if name not in loads:
                    loads[name] = (node, guard)
            elif type(node) is ast.Attribute:
                root = node.value
                name = node.attr
                emit(".")
                emit(name)
                load(name)
                while type(root) is ast.Attribute:
                    name = root.attr
                    emit(".")
                    emit(name)
                    load(name)
                    root = root.value
                if type(root) is ast.Name:
                    first = root.id
                    emit(first)
                    load(first)
                    if first != "self" or name == "__dict__":
                        chain(Chain(root, node, "load", node is called, here))
                else:
                    if type(root) is ast.Call and importer_name(root):
                        chain(Chain(root, node, "load", node is called, here))
                    push(root)
            elif type(node) is ast.Constant:
                value = node.value
                if type(value) is str:
                    emit("'")
                    emit(value)
                    if value.isidentifier():
                        load(value)
                    elif is_distinctive_text(value):
                        notes.literals.append((node, here))
                else:
                    emit(constant_token(value))
                    if type(value) is int and is_distinctive_int(value):
                        notes.literals.append((node, here))
            elif type(node) is ast.Call:
                emit(arity(len(node.args)))
                for keyword in reversed(node.keywords):
                    emit(f"={keyword.arg}")
                    push(keyword.value)
                if node.args:
                    stack.extend(node.args[::-1])
                called = node.func
                push(called)
                if type(called) is ast.Name:
                    name = called.id
                elif type(called) is ast.Attribute:
                    name = called.attr
                else:
                    continue
                if name in calls:
                    calls[name].append((node, here))
                else:
                    calls[name] = [(node, here)]
                if name in IMPORTERS:
                    self._import_call(node, here)
            else:
                handler = _HANDLERS.get(type(node))
                if handler is not None:
                    handler(self, node, stack, here)
                else:
                    children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
                    emit(TYPES[type(node)])
                    emit(arity(len(children)))
                    stack.extend(reversed(children))

    def _import_call(self, node: ast.Call, here: Here) -> None:
        notes = self.notes
        if id(node) in notes.import_calls:
            return
        fact = dynamic_import(
            node,
            "",
            here.statement,
            notes.scope_index(here.scope),
            notes.guards.index(here.guard),
            self.source,
        )
        if fact is not None:
            notes.import_calls[id(node)] = len(notes.imports)
            notes.imports.append(fact)

    def subscript(self, node: ast.Subscript, stack: Stack, here: Here) -> None:
        self.tokens.append("[")
        stack.append(node.slice)
        stack.append(node.value)

    def slice_(self, node: ast.Slice, stack: Stack, here: Here) -> None:
        for part in (node.step, node.upper, node.lower):
            self.tokens.append(":" if part is None else "::")
            if part is not None:
                stack.append(part)

    def formatted(self, node: ast.FormattedValue, stack: Stack, here: Here) -> None:
        self.tokens.append(f"!{node.conversion}")
        if node.format_spec is not None:
            self.tokens.append("!")
            stack.append(node.format_spec)
        stack.append(node.value)

    def binary(self, node: ast.BinOp, stack: Stack, here: Here) -> None:
        operator = type(node.op)
        if operator is ast.BitAnd or operator is ast.BitOr:
            self.notes.conditions.append((node, here))
        self.tokens.append(OPERATORS[operator])
        stack.append(node.right)
        stack.append(node.left)

    def unary(self, node: ast.UnaryOp, stack: Stack, here: Here) -> None:
        self.tokens.append(OPERATORS[type(node.op)])
        stack.append(node.operand)

    def compare(self, node: ast.Compare, stack: Stack, here: Here) -> None:
        self.notes.conditions.append((node, here))
        emit = self.tokens.append
        for operator in node.ops:
            emit(OPERATORS[type(operator)])
        stack.extend(node.comparators[::-1])
        stack.append(node.left)

    def boolean(self, node: ast.BoolOp, stack: Stack, here: Here) -> None:
        self.notes.conditions.append((node, here))
        self.tokens.append(OPERATORS[type(node.op)])
        self.tokens.append(arity(len(node.values)))
        wanted = isinstance(node.op, ast.And)
        for index, value in enumerate(node.values[:-1]):
            test, negated = split_not(value)
            if isinstance(test, ast.Call | ast.Compare | ast.Attribute | ast.Name):
                kind = condition_kind(test, self.source)
                if is_special(kind):
                    # What follows runs only if this operand was true (`and`) or false (`or`).
                    guard = GuardRecord(kind, self.guard, test, negated is wanted)
                    rest = node.values[index + 1 :]
                    self._deferred.append((self.scope, guard, rest[::-1]))
                    stack.extend(node.values[index::-1])
                    return
        stack.extend(node.values[::-1])

    def conditional(self, node: ast.IfExp, stack: Stack, here: Here) -> None:
        self.tokens.append("?")
        test, negated = split_not(node.test)
        kind = condition_kind(test, self.source)
        if is_special(kind):
            for value, side in ((node.body, negated), (node.orelse, not negated)):
                guard = GuardRecord(kind, self.guard, test, side)
                self._deferred.append((self.scope, guard, [value]))
        else:
            stack.append(node.orelse)
            stack.append(node.body)
        stack.append(node.test)

    def sequence(self, node: ast.Tuple | ast.List | ast.Set, stack: Stack, here: Here) -> None:
        self.tokens.append(TYPES[type(node)])
        self.tokens.append(arity(len(node.elts)))
        stack.extend(node.elts[::-1])

    def mapping(self, node: ast.Dict, stack: Stack, here: Here) -> None:
        self.tokens.append("{")
        self.tokens.append(arity(len(node.keys)))
        for key, value in zip(reversed(node.keys), reversed(node.values), strict=True):
            stack.append(value)
            if key is not None:
                stack.append(key)

    def walrus(self, node: ast.NamedExpr, stack: Stack, here: Here) -> None:
        self.tokens.append(":=")
        self.target(node.target, "assign", here, node.value)
        stack.append(node.value)

    def function_expression(self, node: ast.Lambda, stack: Stack, here: Here) -> None:
        self.tokens.append("lambda")
        scope = self.notes.enter("lambda", "<lambda>", self.scope, node)
        self.parameters(node.args, scope)
        stack.extend(defaults_of(node.args)[::-1])
        self._deferred.append((scope, self.guard, [node.body]))

    def comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        stack: Stack,
        here: Here,
    ) -> None:
        self.tokens.append(TYPES[type(node)])
        scope = self.notes.enter("comprehension", "", self.scope, node)
        roots = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for index, generator in enumerate(node.generators):
            self.tokens.append("async for" if generator.is_async else "for")
            self.tokens.append(arity(len(generator.ifs)))
            self._comprehension_target(generator.target, scope, roots)
            if index:
                roots.append(generator.iter)
            roots.extend(generator.ifs)
        stack.append(node.generators[0].iter)
        self._deferred.append((scope, self.guard, roots[::-1]))

    def _comprehension_target(self, node: ast.expr, scope: ScopeRecord, roots: Stack) -> None:
        if isinstance(node, ast.Name):
            self.tokens.append(node.id)
            scope.bind(node.id)
        elif isinstance(node, ast.Tuple | ast.List):
            for element in node.elts:
                self._comprehension_target(element, scope, roots)
        elif isinstance(node, ast.Starred):
            self._comprehension_target(node.value, scope, roots)
        else:
            roots.extend(c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))


# A table of functions, not of bound methods: those would tie a reader and its tree in a cycle.
_HANDLERS: dict[type[ast.expr], Callable[[ExpressionReader, Any, Stack, Here], None]] = {
    ast.Subscript: ExpressionReader.subscript,
    ast.Slice: ExpressionReader.slice_,
    ast.FormattedValue: ExpressionReader.formatted,
    ast.BinOp: ExpressionReader.binary,
    ast.UnaryOp: ExpressionReader.unary,
    ast.Compare: ExpressionReader.compare,
    ast.BoolOp: ExpressionReader.boolean,
    ast.IfExp: ExpressionReader.conditional,
    ast.Tuple: ExpressionReader.sequence,
    ast.List: ExpressionReader.sequence,
    ast.Set: ExpressionReader.sequence,
    ast.Dict: ExpressionReader.mapping,
    ast.NamedExpr: ExpressionReader.walrus,
    ast.Lambda: ExpressionReader.function_expression,
    ast.ListComp: ExpressionReader.comprehension,
    ast.SetComp: ExpressionReader.comprehension,
    ast.GeneratorExp: ExpressionReader.comprehension,
    ast.DictComp: ExpressionReader.comprehension,
}
