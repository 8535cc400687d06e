"""Evaluation of calls: functions of the file are run, the rest become operations."""

import ast

from contract_guard.mirrors.expressions import Evaluated, Expressions
from contract_guard.mirrors.graph import (
    OBJECT,
    PLAIN,
    RESULT,
    Graph,
    Imported,
    is_production,
    is_test_module,
)
from contract_guard.mirrors.model import UNRESOLVED, Const, Reference
from contract_guard.mirrors.operations import (
    ARRAY_METHODS,
    CASTS,
    KEYWORDS,
    OPTIONAL,
    PARAMETERS,
    REFUSED,
    canonical_function,
    canonical_method,
)
from contract_guard.mirrors.scopes import ClassValue, Closure, Frame, dotted_name, methods_of

_LOOKUPS = frozenset({"get", "items", "keys", "values", "pop", "copy"})


class Calls(Expressions):
    """Adds calls to the evaluation of expressions."""

    def _call(self, node: ast.Call, frame: Frame) -> Evaluated:
        line = node.lineno
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value, frame)
            if isinstance(receiver, ClassValue):
                method = self._method(receiver, node.func.attr)
                if method is not None:
                    arguments, keywords = self.arguments(node, frame)
                    return self.invoke(*method[:1], arguments, keywords, method[1], line)
                callee: Evaluated = self.attribute(receiver, node.func.attr, frame, line)
            elif isinstance(receiver, (Imported, Closure)):
                callee = self.attribute(receiver, node.func.attr, frame, line)
            else:
                stored = frame.lookup(f"{receiver}.{node.func.attr}")
                if stored is None:
                    return self._method_call(receiver, node.func.attr, node, frame)
                callee = stored
        else:
            callee = self.evaluate(node.func, frame)
        if isinstance(callee, Imported) and callee.dotted in ("builtins.super", "typing.cast"):
            return self.get(node.args[-1], frame) if node.args else self.graph.input("super")
        arguments, keywords = self.arguments(node, frame)
        if isinstance(callee, Closure):
            return self.invoke(callee, arguments, keywords, frame.owner, line)
        if isinstance(callee, ClassValue):
            rank = OBJECT if self._is_of_production(callee) else None
            return self.graph.op(callee.node.name, arguments, line, keywords, rank=rank)
        if isinstance(callee, Imported):
            return self._imported_call(callee, arguments, keywords, line)
        return self.graph.op("call", (callee, *arguments), line, keywords, rank=RESULT)

    def arguments(
        self, node: ast.Call, frame: Frame
    ) -> tuple[list[Reference], dict[str, Reference]]:
        arguments: list[Reference] = []
        for item in node.args:
            if isinstance(item, ast.Starred):
                inner = self.get(item.value, frame)
                known = self.graph.elements(inner)
                arguments += (
                    [self.graph.op("star", (inner,), node.lineno)] if known is None else known
                )
            else:
                arguments.append(self.get(item, frame))
        keywords: dict[str, Reference] = {}
        for keyword in node.keywords:
            value = self.get(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, int) and self.graph.ops[value].name == "dict":
                pairs = self.graph.ops[value].arguments
                for key, part in zip(pairs[::2], pairs[1::2], strict=True):
                    if isinstance(key, Const):
                        keywords[str(key.value)] = part
            else:
                keywords["**"] = value
        return arguments, keywords

    def _method(self, receiver: ClassValue, name: str) -> tuple[Closure, ClassValue] | None:
        stored = self.root.env.get(f"self.{name}") if receiver.instance else None
        if stored is not None:
            return None
        node = methods_of(receiver.node).get(name)
        if node is not None:
            return Closure(node, receiver.frame, receiver.node), receiver
        for parent in receiver.node.bases:
            value = receiver.frame.lookup(dotted_name(parent))
            if isinstance(value, ClassValue) and value.node is not receiver.node:
                base = ClassValue(value.node, value.frame, receiver.instance)
                found = self._method(base, name)
                if found is not None:
                    return found[0], receiver
        return None

    def _is_of_production(self, value: ClassValue, depth: int = 4) -> bool:
        """True for a class of the file that is derived from one of production."""
        for parent in value.node.bases:
            root, _, rest = dotted_name(parent).partition(".")
            base = value.frame.lookup(root)
            if isinstance(base, Imported) and rest:
                base = base.attribute(rest)
            if isinstance(base, Imported) and is_production(base.dotted, self.production):
                return True
            if isinstance(base, ClassValue) and depth and self._is_of_production(base, depth - 1):
                return True
        return False

    def _imported_call(
        self,
        callee: Imported,
        arguments: list[Reference],
        keywords: dict[str, Reference],
        line: int,
    ) -> Reference:
        dotted = callee.dotted
        last = dotted.rsplit(".", 1)[-1]
        if callee.module == "builtins":
            if last in REFUSED:
                self.graph.refuse(last)
            if last == "getattr" and len(arguments) >= 2:
                return self.graph.op("getattr", arguments, line)
            return self.graph.op(dotted, arguments, line, keywords)
        if is_production(dotted, self.production):
            made = last.lstrip("_")[:1].isupper() or last.startswith(("from_", "build_"))
            rank = OBJECT if made else RESULT
            index = self.graph.op(dotted, arguments, line, keywords, rank=rank)
            if made:
                self.graph.objects.add(dotted)
            return index
        name = canonical_function(dotted)
        if name == dotted:
            rank = PLAIN if is_test_module(callee.module) else None
            return self.graph.op(dotted, arguments, line, keywords, rank=rank)
        return operation(self.graph, name, last, arguments, keywords, line)

    def _method_call(
        self, receiver: Reference, name: str, node: ast.Call, frame: Frame
    ) -> Evaluated:
        graph, line = self.graph, node.lineno
        arguments, keywords = self.arguments(node, frame)
        canonical = canonical_method(name)
        is_object = isinstance(receiver, str) and receiver in graph.objects
        if name in CASTS and not (arguments or keywords or is_object):
            return graph.op("to", (receiver,), line, {"dtype": Const(UNRESOLVED, CASTS[name])})
        if not is_object and (name in ARRAY_METHODS or canonical in ARRAY_METHODS):
            return operation(graph, canonical, name, [receiver, *arguments], keywords, line)
        if isinstance(receiver, Const) and isinstance(receiver.value, (str, bytes)):
            return graph.op(name, [receiver, *arguments], line, keywords)
        rank = graph.rank(receiver)
        if rank >= OBJECT and (is_object or name not in _LOOKUPS):
            rank = RESULT
        return graph.op(
            name, [receiver, *arguments], line, keywords, rank=rank if rank >= OBJECT else None
        )


def operation(
    graph: Graph,
    name: str,
    written: str,
    arguments: list[Reference],
    keywords: dict[str, Reference],
    line: int,
) -> int:
    """An op of the shared vocabulary with its arguments in the one order."""
    words = {KEYWORDS.get(key, key): value for key, value in keywords.items()}
    if written in ("clamp_min", "clamp_max") and len(arguments) == 2:
        words[written[-3:]] = arguments.pop()
    if name in ("view", "reshape", "permute", "expand", "repeat", "tile") and len(arguments) == 2:
        sizes = graph.elements(arguments[1])
        if sizes is not None:
            arguments = [arguments[0], *sizes]
    required = PARAMETERS.get(name, ())
    optional = OPTIONAL.get(name, ())
    if not required and (arguments or "input" in words):
        required = ("input",)
    elementwise = name in ("max", "min") and len(arguments) == 2 and not words
    if elementwise and not isinstance(graph.constant(arguments[1]), int):
        return graph.op(f"{name}imum", arguments, line)
    if required or optional:
        for position, parameter in enumerate(required[len(arguments) :], len(arguments)):
            if parameter not in words or len(arguments) != position:
                break
            arguments.append(words.pop(parameter))
        extra = arguments[len(required) :]
        if optional and len(extra) <= len(optional):
            arguments = arguments[: len(required)]
            words.update(zip(optional, extra, strict=False))
    return graph.op(name, arguments, line, words)
