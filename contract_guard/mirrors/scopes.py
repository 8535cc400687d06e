"""What a test file binds, and the frames in which its code is evaluated."""

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from contract_guard.mirrors.graph import Imported
from contract_guard.mirrors.model import Reference

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function of the file: its node, the frame it was defined in and the class around it."""

    node: FunctionNode | ast.Lambda
    frame: "Frame"
    owner: ast.ClassDef | None = None

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(frozen=True, slots=True, eq=False)
class ClassValue:
    """A class of the file; `instance` for an object of it (`self`, or a called class)."""

    node: ast.ClassDef
    frame: "Frame"
    instance: bool = False


@dataclass(slots=True)
class Frame:
    """Names of one function under evaluation.

    `given` are names passed to production: inputs of the slice, whatever computed them.
    `captured` are names that a double writes into. `prefix` sets apart the inputs of helpers.
    """

    parent: "Frame | None" = None
    env: dict[str, "Reference | Closure | ClassValue | Imported"] = field(
        default_factory=dict[str, "Reference | Closure | ClassValue | Imported"]
    )
    given: frozenset[str] = frozenset()
    captured: frozenset[str] = frozenset()
    prefix: str = ""
    owner: ClassValue | None = None
    yields: list[Reference] = field(default_factory=list[Reference])
    returned: bool = False

    def lookup(self, name: str) -> "Reference | Closure | ClassValue | Imported | None":
        frame: Frame | None = self
        while frame is not None:
            if name in frame.env:
                return frame.env[name]
            frame = frame.parent
        return None


def imports_of(node: ast.stmt) -> Iterator[tuple[str, Imported]]:
    """The names that an import statement binds. Relative modules keep their leading dots."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, Imported(alias.name)
            else:
                root = alias.name.split(".", 1)[0]
                yield root, Imported(root)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if module in ("torch.nn", "torch") and alias.name in ("functional", "nn", "special"):
                yield alias.asname or alias.name, Imported("torch", f"{module}.{alias.name}"[6:])
            else:
                yield alias.asname or alias.name, Imported(module, alias.name)


@dataclass(slots=True)
class Module:
    """The top level of a file: the imports, functions and classes that it binds (`names`), and the
    expressions of its constants, which are evaluated where they are used. `frame` is what they are
    looked up in: it holds `names` while something is evaluated, and is empty otherwise."""

    frame: Frame
    names: dict[str, "Closure | ClassValue | Imported"]
    constants: dict[str, ast.expr]
    fixtures: dict[str, Closure]


def module_of(tree: ast.Module) -> Module:
    frame = Frame()
    module = Module(frame, {}, {}, {})
    names = module.names
    for node in _top_level(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(imports_of(node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            closure = Closure(node, frame)
            names[node.name] = closure
            name = fixture_name(node)
            if name:
                module.fixtures[name] = closure
        elif isinstance(node, ast.ClassDef):
            names[node.name] = ClassValue(node, frame)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                module.constants[target.id] = node.value
            elif isinstance(target, ast.Tuple):
                for position, item in enumerate(target.elts):
                    if isinstance(item, ast.Name):
                        index = ast.Constant(position)
                        part = ast.Subscript(node.value, index, ast.Load())
                        module.constants[item.id] = ast.copy_location(part, node)
                        ast.fix_missing_locations(part)
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            module.constants[node.target.id] = node.value
    return module


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, (ast.If, ast.For, ast.While)):
            yield from _top_level(node.body)
            yield from _top_level(node.orelse)
        elif isinstance(node, ast.Try):
            # Handlers first: what the body binds is what the file means.
            for handler in node.handlers:
                yield from _top_level(handler.body)
            yield from _top_level(node.body)
            yield from _top_level(node.orelse)
            yield from _top_level(node.finalbody)
        elif isinstance(node, ast.With):
            yield from _top_level(node.body)
        else:
            yield node


def fixture_name(node: FunctionNode) -> str | None:
    """The name under which a function is requested as a fixture, None if it is none."""
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        dotted = dotted_name(call.func if call else decorator)
        if dotted in (
            "pytest.fixture",
            "fixture",
            "pytest_asyncio.fixture",
            "pytest.yield_fixture",
        ):
            for keyword in call.keywords if call else ():
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
            return node.name
    return None


def dotted_name(node: ast.expr) -> str:
    """`a.b.c` of a chain of attributes on a name, "" for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def root_name(node: ast.expr) -> str:
    """The name at the root of attributes, subscripts and calls, "" if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def methods_of(node: ast.ClassDef) -> dict[str, FunctionNode]:
    return {
        item.name: item
        for item in node.body
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


# Fields that hold no nodes, or only contexts and operators.
_PLAIN = frozenset(("ctx", "op", "ops", "id", "attr", "kind", "type_comment", "level"))
_LEAVES = (ast.Name, ast.Constant, ast.Load, ast.Store, ast.operator, ast.cmpop, ast.alias)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def walk_function(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below a function's body, without those of nested functions and classes."""
    stack = [node]
    while stack:
        current = stack.pop()
        for name in current._fields:
            value = getattr(current, name)
            for child in value if value.__class__ is list else (value,):
                if isinstance(child, ast.AST):
                    yield child
                    if not isinstance(child, _LEAVES) and not isinstance(child, SCOPES):
                        stack.append(child)


def all_functions(tree: ast.AST) -> Iterator[FunctionNode]:
    """Every function below a node, nested ones and methods too."""
    for node in all_statements(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def all_statements(node: ast.AST, skipped: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.AST]:
    """The statements inside a node, with the handlers and cases that hold some, but not what is
    inside those of the kinds `skipped`. Expressions are not looked into."""
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        for name in _bodies(current.__class__):
            for child in cast("list[ast.AST]", getattr(current, name)):
                yield child
                if not isinstance(child, skipped):
                    stack.append(child)


def holds(node: ast.stmt, kinds: tuple[type[ast.stmt], ...]) -> bool:
    """True if a statement of these kinds is inside one, not counting those of functions and
    classes inside it."""
    return any(isinstance(child, kinds) for child in all_statements(node, SCOPES))


@functools.cache
def _bodies(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that hold statements."""
    if kind in (ast.Lambda, ast.IfExp):
        return ()
    names = ("body", "orelse", "finalbody", "handlers", "cases")
    return tuple(name for name in names if name in kind._fields)


def every_node(node: ast.AST) -> Iterator[ast.AST]:
    """What `ast.walk` gives, in its order, without contexts and operators."""
    found = [node]
    for current in found:  # grows meanwhile
        yield current
        for name in _parts(current.__class__):
            value = getattr(current, name)
            if value.__class__ is list:
                found += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)


@functools.cache
def _parts(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _PLAIN)


def arguments_of(spec: ast.arguments) -> list[ast.arg]:
    """Named parameters, without `*args` and `**kwargs`."""
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
