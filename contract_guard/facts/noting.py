"""What statements and expressions are read into: the notes of a file, with the present place."""

import ast
import re

from contract_guard.facts.guards import GuardRecord
from contract_guard.facts.model import BindingKind
from contract_guard.facts.observations import Bound, Observations
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import Positioned, Source

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class NoteTaker:
    """Notes what needs no reading of expressions: bindings, parameters, mentioned names.

    `scope` and `guard` are where the reader stands; `tokens` grows by the code read, for hashes.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes = Observations(source)
        self.scope = self.notes.module
        self.guard: GuardRecord | None = None
        self.tokens: list[str] = []

    def bind(
        self,
        name: str,
        kind: BindingKind,
        node: Positioned,
        statement: Positioned,
        value: ast.expr | None = None,
        path: tuple[int, ...] = (),
        imported: int = -1,
        digest: int = 0,
    ) -> None:
        """A statement in the present scope binds `name`."""
        scope = self.scope.binding_scope()
        via_global = False
        if name in scope.globals:
            scope = self.notes.module
            via_global = True
        elif name in scope.nonlocals:
            self.notes.nonlocal_bindings.append((scope, name))
            return
        if imported >= 0:
            scope.bound.setdefault(name, []).append(imported)
        elif kind != "annotation":
            scope.bind(name)
        elif scope.kind == "function":
            scope.bound.setdefault(name, [])
        bindings = self.notes.bindings.get(scope)
        if bindings is not None:
            bindings.append(
                Bound(
                    name,
                    kind,
                    node,
                    statement,
                    self.guard,
                    value,
                    path,
                    imported,
                    digest,
                    via_global,
                )
            )

    def parameters(self, arguments: ast.arguments, scope: ScopeRecord) -> None:
        self.tokens.append(
            f"({len(arguments.posonlyargs)},{len(arguments.args)},{len(arguments.kwonlyargs)},"
            f"{arguments.vararg is not None},{len(arguments.defaults)}"
        )
        for argument in every_argument(arguments):
            self.tokens.append(argument.arg)
            scope.bind(argument.arg)

    def mention(self, node: ast.expr) -> None:
        """Note only which names an expression that never runs mentions."""
        loaded = self.notes.loaded
        if isinstance(node, ast.Name):
            loaded.add(node.id)
            return
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                loaded.add(part.id)
            elif isinstance(part, ast.Attribute):
                loaded.add(part.attr)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                loaded.update(_IDENTIFIER.findall(part.value))


def every_argument(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if arguments.vararg is not None:
        found.append(arguments.vararg)
    if arguments.kwarg is not None:
        found.append(arguments.kwarg)
    return found


def defaults_of(arguments: ast.arguments) -> list[ast.expr]:
    """Default values, which are evaluated where the function stands."""
    return [*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)]
