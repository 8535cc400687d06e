"""`ClassFacts`: bases, members and attributes of every class of a file."""

import ast
from collections.abc import Iterable, Iterator

from contract_guard.facts.bindings import bindings_of, name_span
from contract_guard.facts.constants import Constants
from contract_guard.facts.fields import fields_of
from contract_guard.facts.fold import NotFoldable, is_text, names_in
from contract_guard.facts.model import ClassFacts
from contract_guard.facts.observations import ClassRecord, Observations
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import callee, dotted

# Decorators, by last name, that leave the attributes of a class as they are or add known ones.
_KEEPS_MEMBERS = frozenset(
    {
        "dataclass",
        "final",
        "total_ordering",
        "runtime_checkable",
        "unique",
        "verify",
        "deprecated",
        "override",
        "usefixtures",
        "parametrize",
        "skip",
        "skipif",
        "skipIf",
        "skipUnless",
        "xfail",
        "expectedFailure",
        "filterwarnings",
        "timeout",
        "define",
        "frozen",
        "mutable",
        "attrs",
        "attrib",
        "patch",
        "object",
        "dict",
        "multiple",
        "requires",
    }
)

# What is given a class and does not write to it.
_ASKING = frozenset(
    {
        "cast",
        "issubclass",
        "isinstance",
        "len",
        "list",
        "print",
        "set",
        "sorted",
        "tuple",
        "NewType",
        "TypeVar",
        "Union",
        "hasattr",
        "getattr",
    }
)
_COLLECTING = frozenset({"append", "add", "insert", "setdefault", "update", "extend"})


def classes_of(notes: Observations, constants: Constants) -> tuple[ClassFacts, ...]:
    stored = _stored_attributes(notes)
    dynamic = _dynamic_classes(notes) | set(_handed_on(notes))
    writing = set(_writing_owners(notes))
    return tuple(
        [
            _class_facts(
                record,
                notes,
                constants,
                stored.get(record.scope, {}),
                record.scope in dynamic,
                record.scope in writing,
            )
            for record in notes.classes
        ]
    )


def _class_facts(
    record: ClassRecord,
    notes: Observations,
    constants: Constants,
    stored: dict[str, None],
    dynamic: bool,
    writes_owner: bool,
) -> ClassFacts:
    node = record.node
    metaclass = None
    for keyword in node.keywords:
        if keyword.arg == "metaclass":
            metaclass = dotted(keyword.value)
    decorators = tuple([callee(decorator) for decorator in node.decorator_list])
    slots = _slots(record, notes, constants)
    return ClassFacts(
        name=node.name,
        scope=notes.scope_index(record.scope),
        span=name_span(node, notes.source),
        guard=notes.guards.index(record.here.guard),
        bases=tuple([_base(base) for base in node.bases]),
        metaclass=metaclass,
        decorators=decorators,
        members=bindings_of(notes.bindings[record.scope], notes),
        self_attributes=tuple(dict.fromkeys([*stored, *(slots or ())])),
        dynamic=dynamic or slots is None or any(keyword.arg is None for keyword in node.keywords),
        unread_decorators=tuple([name for name in decorators if not _keeps_members(name)]),
        made_by=_makers(record, notes),
        writes_owner=writes_owner,
        fields=fields_of(node, notes.source),
    )


def _makers(record: ClassRecord, notes: Observations) -> tuple[str, ...]:
    values = [item.value for item in notes.bindings[record.scope]]
    names = [callee(value) for value in values if isinstance(value, ast.Call)]
    return tuple(dict.fromkeys(filter(None, names)))


def _base(node: ast.expr) -> str:
    """`Generic` for `Generic[T]`: a subscript of a class gives its attributes."""
    return dotted(node.value if isinstance(node, ast.Subscript) else node)


def _keeps_members(decorator: str) -> bool:
    return ".mark." in decorator or decorator.rpartition(".")[2] in _KEEPS_MEMBERS


def _slots(record: ClassRecord, notes: Observations, constants: Constants) -> Iterable[str] | None:
    """The names in `__slots__`, () without it, None where they cannot be read."""
    names: list[str] = []
    for item in notes.bindings[record.scope]:
        if item.name != "__slots__":
            continue
        try:
            value = constants.fold(item.value) if item.value is not None else None
        except NotFoldable:
            return None
        found = [value] if is_text(value) else names_in(value)
        if found is None:
            return None
        names.extend(found)
    return names


def _stored_attributes(notes: Observations) -> dict[ScopeRecord, dict[str, None]]:
    """Attribute names stored on the first parameter of a method, by class."""
    found: dict[ScopeRecord, dict[str, None]] = {}
    for chain in notes.chains:
        if chain.context == "store" and chain.outer.value is chain.root:
            assert isinstance(chain.root, ast.Name)
            owner = method_class(chain.here.scope, chain.root.id)
            if owner is not None:
                found.setdefault(owner, {})[chain.outer.attr] = None
    return found


def stored_attributes(notes: Observations) -> frozenset[str]:
    """Attributes that the module sets on anything but `self`."""
    found = {node.attr for node, _ in notes.attribute_stores}
    for chain in notes.chains:
        root = chain.root
        if chain.context == "store" and not (
            chain.outer.value is root and isinstance(root, ast.Name) and root.id == "self"
        ):
            found.add(chain.outer.attr)
    for call, _ in notes.calls_by_name.get("setattr", ()):
        name = call.args[1] if len(call.args) > 1 else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            found.add(name.value)
    return frozenset(found)


def _handed_on(notes: Observations) -> Iterator[ScopeRecord]:
    """Classes that the module, while it is imported, gives to something that may write to them."""
    named = {
        record.node.name: record.scope
        for record in notes.classes
        if record.here.scope is notes.module
    }
    if not named:
        return
    given = [
        argument
        for name, calls in notes.calls_by_name.items()
        if name not in _ASKING
        for call, here in calls
        if here.scope is notes.module and not _collects(call)
        for argument in call.args
    ]
    loops = [iterable for (scope, _), iterable in notes.loops.items() if scope is notes.module]
    for value in (*given, *loops):
        for node in value.elts if isinstance(value, ast.Tuple | ast.List | ast.Set) else [value]:
            if isinstance(node, ast.Name) and node.id in named:
                yield named[node.id]


def _writing_owners(notes: Observations) -> Iterator[ScopeRecord]:
    """Descriptors whose `__set_name__` sets attributes of the class that they are put into, or
    gives that class away."""
    if not any(record.node.name == "__set_name__" for record in notes.functions):
        return
    for name, calls in notes.calls_by_name.items():
        if name not in _ASKING and name != "__set_name__":
            for call, here in calls:
                for argument in call.args:
                    if isinstance(argument, ast.Name) and (
                        owner := _descriptor_given(here.scope, argument.id)
                    ):
                        yield owner
    for chain in notes.chains:
        if chain.context == "store" and isinstance(chain.root, ast.Name):
            owner = _descriptor_given(chain.here.scope, chain.root.id)
            if owner is not None:
                yield owner


def _descriptor_given(scope: ScopeRecord, name: str) -> ScopeRecord | None:
    """The class in whose `__set_name__` the name is the second parameter."""
    node = scope.node
    if not isinstance(node, ast.FunctionDef) or node.name != "__set_name__":
        return None
    parameters = [*node.args.posonlyargs, *node.args.args]
    is_given = len(parameters) > 1 and parameters[1].arg == name
    outer = scope.parent
    return outer if is_given and outer is not None and outer.kind == "class" else None


def _collects(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "register":  # an abstract class's own, told from a registry by its name
        return dotted(call.func.value).rpartition(".")[2][:1].isupper()
    return call.func.attr in _COLLECTING


def method_class(scope: ScopeRecord, name: str) -> ScopeRecord | None:
    """The class whose method has `name` as its first parameter, seen from inside the method."""
    inner: ScopeRecord | None = scope
    while inner is not None:
        if name in inner.bound and inner.kind != "class":
            node, outer = inner.node, inner.parent
            if outer is not None and outer.kind == "type-parameters":
                outer = outer.parent
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and inner.kind == "function"
                and outer is not None
                and outer.kind == "class"
            ):
                parameters = [*node.args.posonlyargs, *node.args.args]
                if parameters and parameters[0].arg == name:
                    return outer
            return None
        inner = inner.parent
    return None


def _dynamic_classes(notes: Observations) -> set[ScopeRecord]:
    """Classes whose attributes are written by computed names."""
    found: set[ScopeRecord] = set()
    named = {record.node.name: record.scope for record in notes.classes}
    for function in ("setattr", "vars", "locals", "exec", "__setattr__"):
        for call, here in notes.calls_by_name.get(function, ()):
            if here.scope.kind == "class" and function != "__setattr__":
                found.add(here.scope)
                continue
            if not call.args:
                continue
            subject = call.args[0]
            if isinstance(subject, ast.Name):
                owner = _class_meant(here.scope, subject.id) or named.get(subject.id)
            else:
                owner = _class_asked_for(here.scope, subject)
            if owner is not None:
                found.add(owner)
    for chain in notes.chains:
        if (
            chain.outer.attr in ("update", "setdefault")
            and chain.called
            and isinstance(chain.outer.value, ast.Attribute)
            and chain.outer.value.attr == "__dict__"
            and isinstance(chain.root, ast.Name)
        ):
            owner = _class_meant(chain.here.scope, chain.root.id)
            if owner is not None:
                found.add(owner)
    for node, _, here in notes.subscript_stores:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__":
            root = node.value.value
            if isinstance(root, ast.Name):
                owner = _class_meant(here.scope, root.id)
                if owner is not None:
                    found.add(owner)
    return found


def _class_meant(scope: ScopeRecord, name: str) -> ScopeRecord | None:
    """The class that the first parameter of its method stands for; none for `self`, an instance:
    what is written there, the class does not have."""
    return None if name == "self" else method_class(scope, name)


def _class_asked_for(scope: ScopeRecord, subject: ast.expr) -> ScopeRecord | None:
    """The class of the method around `type(self)` or `self.__class__`."""
    if isinstance(subject, ast.Call) and subject.args:
        subject = subject.args[0]
    elif isinstance(subject, ast.Attribute) and subject.attr == "__class__":
        subject = subject.value
    return method_class(scope, subject.id) if isinstance(subject, ast.Name) else None
