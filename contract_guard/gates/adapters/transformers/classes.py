"""Router classes of the installed transformers, found in its sources without importing them.

A router is a class of `transformers.models.*.modeling_*` whose name ends in Router, Gate or
Gating and whose text speaks of experts. Classes whose forward (and the helpers that it calls) are
the same text but for comments, docstrings and annotations share a digest, and so a specification.
"""

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROUTER_NAME = re.compile(r"(Router|Gate|Gating)$")
_CANDIDATE = re.compile(r"^class \w*(?:Router|Gate|Gating)\(", re.MULTILINE)
ROUTING_METHOD = "route_tokens_to_experts"
"""The method of a MoE block in which routing goes on after a router that only makes logits."""


@dataclass(frozen=True, slots=True)
class Host:
    """The block that owns a router as `attribute`. `path` are the attribute names from the model
    `model` down to the router, "0" for an entry of a module list: parameter names, on which the
    dtypes of a loaded checkpoint depend."""

    name: str
    attribute: str
    model: str | None
    path: tuple[str, ...]
    fields: tuple[str, ...]
    """Configuration fields that the block reads."""
    routes: bool
    """The block has `ROUTING_METHOD`."""


@dataclass(frozen=True, slots=True)
class RouterClass:
    """`digest` identifies the rule. `arguments` are those of `__init__`, `fields` the
    configuration fields that it reads, `config` the annotated configuration class."""

    name: str
    module: str
    path: str
    digest: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    fields: tuple[str, ...]
    config: str | None
    host: Host | None
    names: frozenset[str]
    """All attribute names in the constructors of the router and, where it is needed, its block."""

    @property
    def needs_host(self) -> bool:
        """Whether the gate is more than the router: its block owns a bias that it passes, or goes
        on routing."""
        passes_bias = any("bias" in name for name in self.inputs)
        return self.host is not None and (passes_bias or self.host.routes)


@cache
def router_classes() -> tuple[RouterClass, ...]:
    """All router classes, by name; none where transformers is not installed."""
    spec = importlib.util.find_spec("transformers")
    if spec is None or not spec.submodule_search_locations:
        return ()
    models = Path(spec.submodule_search_locations[0]) / "models"
    found = [
        router
        for path in sorted(models.glob("*/modeling_*.py"))
        for router in routers_in(path, f"transformers.models.{path.parent.name}.{path.stem}")
    ]
    return tuple(sorted(found, key=lambda router: router.name))


def version() -> str | None:
    """The version of the installed transformers, without importing it."""
    from importlib import metadata

    try:
        return metadata.version("transformers")
    except metadata.PackageNotFoundError:
        return None


def routers_in(path: Path, module: str) -> Iterator[RouterClass]:
    """The router classes of one source file, which is the module of that dotted name."""
    text = path.read_text(encoding="utf-8")
    if not _CANDIDATE.search(text):
        return
    tree = ast.parse(text)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name, node in classes.items():
        methods = _methods(node)
        if not _ROUTER_NAME.search(name) or "forward" not in methods:
            continue
        if "expert" not in ast.unparse(node).lower():
            continue
        host = _host(name, classes)
        constructor = _constructor(node)
        arguments = constructor.args.args[1:] if constructor else []
        forward = methods["forward"].args.args[1:]
        yield RouterClass(
            name=name,
            module=module,
            path=str(path),
            digest=_digest(node, host, classes, functions),
            arguments=tuple(argument.arg for argument in arguments),
            inputs=tuple(argument.arg for argument in forward),
            fields=tuple(sorted(_config_fields(node))),
            config=_config_annotation(node, host, classes),
            host=host,
            names=_attribute_names(constructor)
            | _attribute_names(_constructor(classes[host.name]) if host else None),
        )


def _methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {entry.name: entry for entry in node.body if isinstance(entry, ast.FunctionDef)}


def _constructor(node: ast.ClassDef) -> ast.FunctionDef | None:
    return _methods(node).get("__init__")


def _attribute_names(node: ast.FunctionDef | None) -> frozenset[str]:
    entries = ast.walk(node) if node is not None else ()
    return frozenset(entry.attr for entry in entries if isinstance(entry, ast.Attribute))


def _config_fields(node: ast.AST) -> set[str]:
    """Names read as `config.NAME`, without a default."""
    fields: set[str] = set()
    for entry in ast.walk(node):
        match entry:
            case ast.Attribute(value=ast.Name(id="config"), attr=field):
                fields.add(field)
            case ast.Attribute(value=ast.Attribute(attr="config"), attr=field):
                fields.add(field)
            case _:
                pass
    return fields


def _config_annotation(
    node: ast.ClassDef, host: Host | None, classes: dict[str, ast.ClassDef]
) -> str | None:
    for owner in (node, classes.get(host.name) if host else None):
        constructor = _constructor(owner) if owner else None
        for argument in constructor.args.args if constructor else ():
            if argument.arg in ("config", "layer_config") and isinstance(
                argument.annotation, ast.Name
            ):
                return argument.annotation.id
    return None


def _constructed(name: str, classes: dict[str, ast.ClassDef]) -> Iterator[tuple[str, str, bool]]:
    """(class, attribute, whether in a module list) of each `self.attribute = ... name(...)`."""
    for owner, node in classes.items():
        for entry in ast.walk(node):
            if not (isinstance(entry, ast.Assign) and len(entry.targets) == 1):
                continue
            target = entry.targets[0]
            if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)):
                continue
            calls = [call for call in ast.walk(entry.value) if isinstance(call, ast.Call)]
            if any(isinstance(call.func, ast.Name) and call.func.id == name for call in calls):
                listed = any("ModuleList" in ast.unparse(call.func) for call in calls)
                yield owner, target.attr, listed


def _is_model(name: str, classes: dict[str, ast.ClassDef]) -> bool:
    node = classes.get(name)
    if node is None:
        return False
    bases = [ast.unparse(base).rsplit(".", 1)[-1] for base in node.bases]
    return any(base.endswith("PreTrainedModel") or _is_model(base, classes) for base in bases)


def _host(router: str, classes: dict[str, ast.ClassDef]) -> Host | None:
    """Climbs from the router to the model that holds it, by who constructs whom."""
    first: tuple[str, str] | None = None
    path: list[str] = []
    name = router
    model = None
    seen: set[str] = set()
    while model is None and name not in seen:
        seen.add(name)
        owners = [entry for entry in _constructed(name, classes) if entry[0] not in seen]
        if not owners:
            break
        owner, attribute, listed = owners[0]
        path = [attribute, "0", *path] if listed else [attribute, *path]
        first = first or (owner, attribute)
        if _is_model(owner, classes):
            model = owner
        name = owner
    if first is None:
        return None
    block = classes[first[0]]
    fields = tuple(sorted(_config_fields(block)))
    return Host(*first, model, tuple(path), fields, ROUTING_METHOD in _methods(block))


class _Plain(ast.NodeTransformer):
    """Drops what does not act: annotations and docstrings."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        match node.body:
            case [ast.Expr(value=ast.Constant(value=str())), *rest] if rest:
                node.body = rest
            case _:
                pass
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def _digest(
    node: ast.ClassDef,
    host: Host | None,
    classes: dict[str, ast.ClassDef],
    functions: dict[str, ast.FunctionDef],
) -> str:
    """SHA-256 (12 digits) over the methods of the router, the module functions that they call,
    the methods of the module's own classes that it is built from, and the host's routing."""
    methods = _methods(node)
    acting = [method for name, method in methods.items() if name != "__init__"]
    called = {
        entry.id for part in acting for entry in ast.walk(part) if isinstance(entry, ast.Name)
    }
    acting += [functions[name] for name in sorted(called & set(functions))]
    constructor = _constructor(node)
    for entry in ast.walk(constructor) if constructor else ():
        if isinstance(entry, ast.Call) and isinstance(entry.func, ast.Name):
            part = classes.get(entry.func.id)
            if part is not None:
                acting += [m for name, m in _methods(part).items() if name in ("forward", "_norm")]
    if host is not None and host.routes:
        acting.append(_methods(classes[host.name])[ROUTING_METHOD])
    texts = [ast.unparse(_Plain().visit(method)) for method in acting]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]
