"""Evaluation of expressions into operations of a graph."""

import ast
import builtins
import functools
from abc import abstractmethod

from contract_guard.mirrors.graph import (
    OBJECT,
    Graph,
    Imported,
    TooLarge,
)
from contract_guard.mirrors.model import UNRESOLVED, Const, Reference
from contract_guard.mirrors.operations import (
    BINARY,
    COMPARE,
    PAIR_FIELDS,
    PAIRS,
    UNARY,
)
from contract_guard.mirrors.scopes import (
    ClassValue,
    Closure,
    Frame,
    Module,
    dotted_name,
)

_NESTED = 200  # expressions inside one another, those of functions that are called included
_BUILTINS = frozenset(dir(builtins))
_TENSOR_ATTRIBUTES = frozenset(
    {"shape", "dtype", "device", "ndim", "grad", "T", "mT", "real", "imag", "values", "indices"}
)

Evaluated = Reference | Closure | ClassValue | Imported


@functools.cache
def _method_name(kind: type[ast.AST]) -> str:
    return f"_{kind.__name__.lower()}"


class Expressions:
    """Evaluates expressions of one test file. Subclasses execute function bodies."""

    def __init__(self, module: Module, graph: Graph, production: frozenset[str] | None) -> None:
        self.module = module
        self.graph = graph
        self.production = production
        self.root = Frame(parent=module.frame)  # of the test; holds what is stored on `self`
        self._evaluating: set[str] = set()
        self._depth = 0

    @abstractmethod
    def invoke(
        self,
        closure: Closure,
        arguments: list[Reference],
        keywords: dict[str, Reference],
        owner: ClassValue | None,
        line: int,
    ) -> Evaluated:
        """Runs a function of the file and gives what it returns."""

    # Values

    def reference(self, value: Evaluated) -> Reference:
        """A value in a form that an op can take."""
        if isinstance(value, (int, str, Const)):
            return value
        if isinstance(value, Imported):
            return value.constant()
        if isinstance(value, Closure):
            return Const(UNRESOLVED, value.name)
        return self.graph.input("self", OBJECT) if value.instance else _named(value.node.name)

    def get(self, node: ast.expr, frame: Frame) -> Reference:
        return self.reference(self.evaluate(node, frame))

    def evaluate(self, node: ast.expr, frame: Frame) -> Evaluated:
        """The value of an expression. Raises `TooLarge` past the bounds of the graph."""
        method = getattr(self, _method_name(node.__class__), None)
        if method is None:
            self.graph.refuse(f"{type(node).__name__} at line {node.lineno}")
            return Const(UNRESOLVED, type(node).__name__)
        # Counted, so that the bound is the same in a worker and in a deep call of the caller's.
        self._depth += 1
        if self._depth > _NESTED:
            raise TooLarge
        try:
            value = method(node, frame)
        except RecursionError:
            raise TooLarge from None
        self._depth -= 1
        return value

    def _constant(self, node: ast.Constant, frame: Frame) -> Evaluated:
        return Const(node.value)

    def _name(self, node: ast.Name, frame: Frame) -> Evaluated:
        return self.named(node.id, frame)

    def named(self, name: str, frame: Frame) -> Evaluated:
        value = frame.lookup(name)
        if value is not None:
            return value
        if name in self.module.constants:
            if name in self._evaluating:
                return Const(UNRESOLVED, name)
            self._evaluating.add(name)
            value = self.evaluate(self.module.constants[name], self.module.frame)
            self._evaluating.discard(name)
            if isinstance(value, Const) and value.symbol is None:
                value = Const(value.value, name)
            elif isinstance(value, int) and self.graph.is_random(value):
                value = self.graph.input(name)
            elif isinstance(value, int) and self.graph.ops[value].name in self.graph.objects:
                value = self.new_object(name)
            elif isinstance(value, int):
                self.graph.aliases.setdefault(value, set()).add(name)
            self.module.frame.env[name] = value
            return value
        if name in _BUILTINS:
            return Imported("builtins", name)
        return self.graph.input(frame.prefix + name)

    def new_object(self, name: str) -> str:
        reference = self.graph.input(name, OBJECT)
        self.graph.objects.add(reference)
        return reference

    # Access

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Evaluated:
        return self.attribute(self.evaluate(node.value, frame), node.attr, frame, node.lineno)

    def attribute(self, base: Evaluated, name: str, frame: Frame, line: int) -> Evaluated:
        graph = self.graph
        if isinstance(base, Imported):
            return base.attribute(name)
        if isinstance(base, ClassValue):
            return self._member(base, name)
        if isinstance(base, Closure):
            return Const(UNRESOLVED, f"{base.name}.{name}")
        if isinstance(base, Const):
            if isinstance(base.value, (str, bytes, int, float)) or base.symbol is None:
                return graph.op("getattr", (base, Const(name)), line)
            return Const(UNRESOLVED, f"{base.symbol}.{name}")
        if isinstance(base, str):
            stored = frame.lookup(f"{base}.{name}")
            if stored is not None:
                return stored
            if name not in _TENSOR_ATTRIBUTES:
                rank = graph.rank(base)
                return graph.input(f"{base[1:]}.{name}", rank)
        elif name in PAIR_FIELDS and graph.ops[base].name in PAIRS:
            return graph.op("getitem", (base, Const(PAIR_FIELDS[name])), line)
        elif graph.ops[base].name.endswith("SimpleNamespace"):
            for key, value in graph.ops[base].keywords:
                if key == name:
                    return value
        if name == "T":
            return graph.op("t", (base,), line)
        if name == "mT":
            return graph.op("transpose", (base, Const(-2), Const(-1)), line)
        return graph.op("getattr", (base, Const(name)), line)

    def _member(self, base: ClassValue, name: str) -> Evaluated:
        if base.instance:
            stored = self.root.env.get(f"self.{name}")
            if stored is not None:
                return stored
        for item in base.node.body:
            if (
                isinstance(item, ast.Assign)
                and len(item.targets) == 1
                and isinstance(item.targets[0], ast.Name)
                and item.targets[0].id == name
            ):
                value = self.evaluate(item.value, base.frame)
                if isinstance(value, Const) and value.symbol is None:
                    return Const(value.value, f"{base.node.name}.{name}")
                return value
            if (
                isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
                and item.name == name
                and any(dotted_name(d).endswith("property") for d in item.decorator_list)
            ):
                return self.invoke(Closure(item, base.frame, base.node), [], {}, base, item.lineno)
        for parent in base.node.bases:
            value = base.frame.lookup(dotted_name(parent))
            if isinstance(value, ClassValue) and value.node is not base.node:
                return self._member(ClassValue(value.node, value.frame, base.instance), name)
        if base.instance:
            return self.graph.input(f"self.{name}", OBJECT)
        return Const(UNRESOLVED, f"{base.node.name}.{name}")

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Evaluated:
        base = self.get(node.value, frame)
        return self.item(base, self.get(node.slice, frame), node.lineno)

    def item(self, base: Reference, index: Reference, line: int) -> Reference:
        if isinstance(base, int) and isinstance(index, Const) and index.value is not UNRESOLVED:
            op = self.graph.ops[base]
            if op.name in ("list", "tuple") and type(index.value) is int:
                if -len(op.arguments) <= index.value < len(op.arguments):
                    return op.arguments[index.value]
            elif op.name == "dict":
                pairs = zip(op.arguments[-2::-2], op.arguments[::-2], strict=False)
                for key, value in pairs:
                    if isinstance(key, Const) and key.value == index.value:
                        return value
        return self.graph.op("getitem", (base, index), line)

    def _slice(self, node: ast.Slice, frame: Frame) -> Evaluated:
        parts = (node.lower, node.upper, node.step)
        values = [Const(None) if part is None else self.get(part, frame) for part in parts]
        return self.graph.op("slice", values, node.lineno)

    # Operators

    def _binop(self, node: ast.BinOp, frame: Frame) -> Evaluated:
        arguments = (self.get(node.left, frame), self.get(node.right, frame))
        return self.graph.op(BINARY[type(node.op)], arguments, node.lineno)

    def _unaryop(self, node: ast.UnaryOp, frame: Frame) -> Evaluated:
        value = self.get(node.operand, frame)
        if isinstance(node.op, ast.USub) and isinstance(value, Const) and value.symbol is None:
            number = value.value
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                return Const(-number)
        return self.graph.op(UNARY[type(node.op)], (value,), node.lineno)

    def _boolop(self, node: ast.BoolOp, frame: Frame) -> Evaluated:
        name = "and" if isinstance(node.op, ast.And) else "or"
        return self.graph.op(name, [self.get(v, frame) for v in node.values], node.lineno)

    def _compare(self, node: ast.Compare, frame: Frame) -> Evaluated:
        values = [self.get(v, frame) for v in (node.left, *node.comparators)]
        parts = [
            self.graph.op(COMPARE[type(op)], values[i : i + 2], node.lineno)
            for i, op in enumerate(node.ops)
        ]
        return parts[0] if len(parts) == 1 else self.graph.op("and", parts, node.lineno)

    def _ifexp(self, node: ast.IfExp, frame: Frame) -> Evaluated:
        test = self.get(node.test, frame)
        known = self.graph.constant(test)
        if known is not UNRESOLVED:
            return self.evaluate(node.body if known else node.orelse, frame)
        return self.choose(
            test, self.evaluate(node.body, frame), self.evaluate(node.orelse, frame), node.lineno
        )

    def choose(self, test: Reference, a: Evaluated, b: Evaluated, line: int) -> Evaluated:
        if a is b or self.reference(a) == self.reference(b):
            return a
        arguments = (test, self.reference(a), self.reference(b))
        rank = max(self.graph.rank(arguments[1]), self.graph.rank(arguments[2]))
        return self.graph.op("ifelse", arguments, line, rank=rank)

    def _namedexpr(self, node: ast.NamedExpr, frame: Frame) -> Evaluated:
        value = self.evaluate(node.value, frame)
        frame.env[node.target.id] = value
        return value

    def _await(self, node: ast.Await, frame: Frame) -> Evaluated:
        return self.evaluate(node.value, frame)

    def _starred(self, node: ast.Starred, frame: Frame) -> Evaluated:
        return self.graph.op("star", (self.get(node.value, frame),), node.lineno)

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Evaluated:
        return Closure(node, frame)

    def _yield(self, node: ast.Yield, frame: Frame) -> Evaluated:
        value = Const(None) if node.value is None else self.get(node.value, frame)
        frame.yields.append(value)
        return Const(UNRESOLVED, "yield")

    def _yieldfrom(self, node: ast.YieldFrom, frame: Frame) -> Evaluated:
        frame.yields.append(self.graph.op("star", (self.get(node.value, frame),), node.lineno))
        return Const(UNRESOLVED, "yield")

    # Containers and text

    def _list(self, node: ast.List, frame: Frame) -> Evaluated:
        return self._sequence("list", node.elts, frame, node.lineno)

    def _tuple(self, node: ast.Tuple, frame: Frame) -> Evaluated:
        return self._sequence("tuple", node.elts, frame, node.lineno)

    def _set(self, node: ast.Set, frame: Frame) -> Evaluated:
        return self._sequence("set", node.elts, frame, node.lineno)

    def _sequence(self, name: str, items: list[ast.expr], frame: Frame, line: int) -> int:
        values: list[Reference] = []
        for item in items:
            if isinstance(item, ast.Starred):
                inner = self.get(item.value, frame)
                known = self.graph.elements(inner)
                values += [self.graph.op("star", (inner,), line)] if known is None else known
            else:
                values.append(self.get(item, frame))
        return self.graph.op(name, values, line)

    def _dict(self, node: ast.Dict, frame: Frame) -> Evaluated:
        values: list[Reference] = []
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.get(value, frame)
            if key is not None:
                values += (self.get(key, frame), inner)
            elif isinstance(inner, int) and self.graph.ops[inner].name == "dict":
                values += self.graph.ops[inner].arguments
            else:
                values += (Const("**"), inner)
        return self.graph.op("dict", values, node.lineno)

    def _joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Evaluated:
        parts: list[Reference] = []
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                parts.append(self._formattedvalue(value, frame))
            else:
                parts.append(self.get(value, frame))
        return self.graph.op("format", parts, node.lineno)

    def _formattedvalue(self, node: ast.FormattedValue, frame: Frame) -> Reference:
        value = self.get(node.value, frame)
        spec = "" if node.conversion == -1 else f"!{chr(node.conversion)}"
        if node.format_spec is not None:
            spec += ":" + ast.unparse(node.format_spec)[2:-1]
        return self.graph.op("format_spec", (value, Const(spec)), node.lineno) if spec else value

    # Comprehensions

    def _listcomp(self, node: ast.ListComp, frame: Frame) -> Evaluated:
        return self._comprehension("list", [node.elt], node.generators, frame, node.lineno)

    def _setcomp(self, node: ast.SetComp, frame: Frame) -> Evaluated:
        return self._comprehension("set", [node.elt], node.generators, frame, node.lineno)

    def _generatorexp(self, node: ast.GeneratorExp, frame: Frame) -> Evaluated:
        return self._comprehension("list", [node.elt], node.generators, frame, node.lineno)

    def _dictcomp(self, node: ast.DictComp, frame: Frame) -> Evaluated:
        items = [node.key, node.value]
        return self._comprehension("dict", items, node.generators, frame, node.lineno)

    def _comprehension(
        self,
        name: str,
        items: list[ast.expr],
        generators: list[ast.comprehension],
        frame: Frame,
        line: int,
    ) -> Reference:
        unrolled = self._unroll(items, generators, frame)
        if unrolled is not None:
            return self.graph.op(name, unrolled, line)
        inner = Frame(parent=frame, prefix=frame.prefix, owner=frame.owner)
        sources: list[Reference] = []
        for generator in generators:
            source = self.get(generator.iter, inner)
            element = self.graph.op("element", (source,), line)
            self.assign(generator.target, element, inner)
            sources.append(source)
            sources += [self.get(condition, inner) for condition in generator.ifs]
        values = [self.get(item, inner) for item in items]
        self.graph.refuse(f"comprehension at line {line}")
        return self.graph.op(f"{name}_comprehension", [*values, *sources], line)

    def _unroll(
        self, items: list[ast.expr], generators: list[ast.comprehension], frame: Frame
    ) -> list[Reference] | None:
        if len(generators) != 1:
            return None
        generator = generators[0]
        elements = self.graph.elements(self.get(generator.iter, frame))
        if elements is None:
            return None
        values: list[Reference] = []
        for element in elements:
            inner = Frame(parent=frame, prefix=frame.prefix, owner=frame.owner)
            self.assign(generator.target, element, inner)
            keep: object = True
            for condition in generator.ifs:
                keep = self.graph.constant(self.get(condition, inner))
                if keep is UNRESOLVED:
                    return None
                if not keep:
                    break
            if keep:
                values += [self.get(item, inner) for item in items]
        return values

    def assign(self, target: ast.expr, value: Evaluated, frame: Frame) -> None:
        """Binds a target; statements add inputs and stores to this."""
        if isinstance(target, ast.Name):
            frame.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, self.reference(value), frame)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, frame)

    def unpack(self, target: ast.Tuple | ast.List, value: Reference, frame: Frame) -> None:
        elements = self.graph.elements(value)
        exact = elements is not None and len(elements) == len(target.elts)
        for position, item in enumerate(target.elts):
            if elements is not None and exact:
                part = elements[position]
            else:
                part = self.item(value, Const(position), item.lineno)
            self.assign(item, part, frame)


def _named(name: str) -> Const:
    return Const(UNRESOLVED, name)
