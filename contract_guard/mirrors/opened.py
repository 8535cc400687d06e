"""A source file that was opened to be compared: whole, or function by function.

Parsing is what opening costs. Of a production file mostly one function is wanted, which is run by
itself: the others are then known by their names alone.
"""

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate

from contract_guard.facts.model import FunctionFragments
from contract_guard.mirrors.scopes import FunctionNode, Module, all_functions, module_of
from contract_guard.mirrors.trace import functions_of


class OpenedFile:
    """The syntax of a file: its functions by line and name (`every`), and those that are not
    inside others, with the class around each, by line and qualified name (`outer`)."""

    def __init__(self, text: str) -> None:
        self.tree = _parse(text)

    @cached_property
    def module(self) -> Module:
        return module_of(self.tree)

    @cached_property
    def every(self) -> dict[tuple[int, str], FunctionNode]:
        return {(node.lineno, node.name): node for node in all_functions(self.tree)}

    @cached_property
    def outer(self) -> dict[tuple[int, str], tuple[FunctionNode, ast.ClassDef | None]]:
        return {(node.lineno, name): (node, owner) for name, node, owner in functions_of(self.tree)}


class FunctionWise:
    """A file whose functions are parsed one by one, as they are asked for.

    `module` is the top level, in which functions have their names and decorators, and no body.
    """

    def __init__(self, text: str, functions: Iterable[FunctionFragments]) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._ends = list(accumulate(len(line) + 1 for line in self._lines))
        self._functions = functions
        self._built: dict[tuple[int, str], frozenset[str]] = {}

    @cached_property
    def module(self) -> Module:
        lines = self._lines.copy()
        last = 0
        for function in sorted(self._functions, key=lambda f: f.start):
            if function.start > last:  # not inside the one before
                last = function.end
                line = lines[function.start - 1]
                indent = line[: len(line) - len(line.lstrip())]
                name = function.qualname.rpartition(".")[2]
                lines[function.start - 1] = f"{indent}def {name}(): pass"
                lines[function.start : last] = [""] * (last - function.start)
        return module_of(_parse("\n".join(lines)))

    def function(self, function: FunctionFragments) -> FunctionNode:
        """The syntax of one function, without its decorators, its lines as in the file."""
        body = self._lines[function.start - 1 : function.end]
        if body[0][:1].isspace():
            before = [""] * (function.start - 2) + ["if 1:"]
        else:
            before = [""] * (function.start - 1)
        statement = _parse("\n".join([*before, *body])).body[0]
        node = statement.body[0] if isinstance(statement, ast.If) else statement
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        return node

    def builders(self, field: str) -> list[FunctionFragments]:
        """The functions that set a field of this name (`self.x = ...`), or give it to a call of
        which they do not use the result (`update(self.x)`)."""
        places = [
            match.start() for match in re.finditer(rf"\.[\s\\]*{re.escape(field)}\b", self._text)
        ]
        lines = [1 + bisect_right(self._ends, place) for place in places]
        return [
            function
            for function in self._functions
            if any(function.start <= line <= function.end for line in lines)
            and field in self._fields(function)
        ]

    def _fields(self, function: FunctionFragments) -> frozenset[str]:
        key = (function.start, function.qualname)
        known = self._built.get(key)
        if known is None:
            found: set[str] = set()
            for node in ast.walk(self.function(function)):
                changed: list[ast.expr] = []
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    changed = [node]
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    changed = node.value.args
                found.update(each.attr for each in changed if isinstance(each, ast.Attribute))
            known = self._built[key] = frozenset(found)
        return known


def _parse(text: str) -> ast.Module:
    """The tree of text that was parsed before, when its facts were taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
