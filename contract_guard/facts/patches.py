"""`PatchTarget` facts: what `mock.patch`, `monkeypatch` and `setattr` put something else into."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from contract_guard.facts.model import PatchForm, PatchTarget
from contract_guard.facts.observations import Here, Observations
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import dotted
from contract_guard.facts.texts import MODULE_NAME, OWN_NAME, Texts
from contract_guard.facts.uses import ImportedNames

_MOCKERS = frozenset(
    {"mocker", "class_mocker", "module_mocker", "package_mocker", "session_mocker"}
)
# (module, name) of the imports through which `patch` is reached.
_MOCK_IMPORTS = frozenset(
    {
        ("unittest.mock", "patch"),
        ("mock", "patch"),
        ("unittest", "mock"),
        ("unittest.mock", None),
        ("mock", None),
        ("mock", "mock"),
        ("unittest", None),
    }
)
_MULTIPLE_OPTIONS = frozenset({"spec", "create", "spec_set", "autospec", "new_callable"})
_CANDIDATES = ("patch", "object", "multiple", "dict", "spy", "setattr", "delattr")


class _Object(NamedTuple):
    """An object in a patch: dotted source, and the imports that its root leads to."""

    target: str
    imported: tuple[int, ...]


def patches_of(
    notes: Observations, imported: ImportedNames, texts: Texts
) -> tuple[tuple[PatchTarget, ...], int]:
    """The targets in the order of the text, and how many could not be folded."""
    reader = _PatchReader(notes, imported, texts)
    aliases = [fact.bound for fact in notes.imports if fact.name == "patch"]
    found = [
        fact
        for name in dict.fromkeys((*_CANDIDATES, *aliases))
        for call, here in notes.calls_by_name.get(name, ())
        for fact in reader.targets(call, here)
    ]
    found.sort(key=lambda fact: fact.call)
    return tuple(found), reader.unfolded


class _PatchReader:
    def __init__(self, notes: Observations, imported: ImportedNames, texts: Texts) -> None:
        self.unfolded = 0
        self._notes = notes
        self._imported = imported
        self._texts = texts

    def targets(self, call: ast.Call, here: Here) -> Iterator[PatchTarget]:
        form = self._form(call, here.scope)
        arguments = _Arguments(call)
        if form is None or arguments.unpacked:
            return
        if form == "mock.patch":
            yield from self._text_form(form, call, here, arguments, "target", 0, new=1)
        elif form == "mock.patch.dict":
            yield from self._dict(call, here, arguments)
        elif form == "mock.patch.multiple":
            yield from self._multiple(call, here, arguments)
        elif form == "mock.patch.object":
            target = arguments.get("target", 0, "obj")
            attribute = arguments.get("attribute", 1, "name")
            new = arguments.get("new", 2)
            yield from self._object_form(form, call, here, arguments, target, attribute, new)
        else:
            name = arguments.get("name", 1)
            value = arguments.get("value", 2)
            has_name = value is not None or arguments.has("name")
            if form in ("delattr", "monkeypatch.delattr"):
                has_name = name is not None
                value = None
            if form.startswith("monkeypatch") and not has_name:
                yield from self._text_form(form, call, here, arguments, "target", 0, new=1)
            else:
                target = arguments.get("target", 0)
                yield from self._object_form(form, call, here, arguments, target, name, value)

    # Which function is called

    def _form(self, call: ast.Call, scope: ScopeRecord) -> PatchForm | None:
        name = dotted(call.func)
        root, _, rest = name.partition(".")
        if name in ("setattr", "delattr"):
            return "setattr" if name == "setattr" else "delattr"
        head, _, last = name.rpartition(".")
        if last in ("setattr", "delattr"):
            if head and self._is_monkeypatch(call.func, head, scope):
                return "monkeypatch.setattr" if last == "setattr" else "monkeypatch.delattr"
            return None
        if root in _MOCKERS:
            name = rest
        elif name.startswith("self.mocker."):
            name = rest.removeprefix("mocker.")
        elif not self._is_mock(root, scope):
            return None
        else:
            name = name.removeprefix("unittest.").removeprefix("mock.")
            if name.partition(".")[0] == root and root != "patch":
                name = f"patch.{rest}" if self._is_patch(root, scope) else rest
            name = name.rstrip(".")
        match name:
            case "patch":
                return "mock.patch"
            case "patch.object" | "spy":
                return "mock.patch.object"
            case "patch.multiple":
                return "mock.patch.multiple"
            case "patch.dict":
                return "mock.patch.dict"
            case _:
                return None

    def _is_mock(self, root: str, scope: ScopeRecord) -> bool:
        imports = [self._notes.imports[index] for index in self._imported.any(scope, root)]
        return any((fact.module, fact.name) in _MOCK_IMPORTS for fact in imports)

    def _is_patch(self, root: str, scope: ScopeRecord) -> bool:
        imports = [self._notes.imports[index] for index in self._imported.any(scope, root)]
        return any(fact.name == "patch" for fact in imports)

    def _is_monkeypatch(self, function: ast.expr, head: str, scope: ScopeRecord) -> bool:
        if "monkeypatch" in head.lower():
            return True
        home = scope.home(head)
        if home is None:
            return False
        value = self._notes.named_values.get((home, head))
        if isinstance(value, ast.Call):
            maker = dotted(value.func)
            return maker.endswith("MonkeyPatch") or (
                maker.endswith(".context") and "monkeypatch" in maker.lower()
            )
        if isinstance(home.node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument in (*home.node.args.args, *home.node.args.kwonlyargs):
                if argument.arg == head and argument.annotation is not None:
                    return dotted(argument.annotation).endswith("MonkeyPatch")
        return False

    # The forms

    def _text_form(
        self,
        form: PatchForm,
        call: ast.Call,
        here: Here,
        arguments: "_Arguments",
        keyword: str,
        position: int,
        new: int,
    ) -> Iterator[PatchTarget]:
        target = arguments.get(keyword, position)
        if target is None:
            return
        texts = self._texts.of(target, here)
        if texts is None:
            self.unfolded += 1
            return
        value = arguments.get("new" if form.startswith("mock") else "value", new)
        for text in texts:
            yield from self._named_target(form, call, here, arguments, target, text, value)

    def _named_target(
        self,
        form: PatchForm,
        call: ast.Call,
        here: Here,
        arguments: "_Arguments",
        target: ast.expr,
        text: str,
        new: ast.expr | None,
    ) -> Iterator[PatchTarget]:
        """A target by dotted text; `mod.__name__ + ".x"` is the object `mod` and the name."""
        if OWN_NAME in text:
            return
        if not text.startswith(MODULE_NAME):
            if "." in text and MODULE_NAME not in text:
                yield self._fact(form, call, here, arguments, target, _Object(text, ()), None, new)
            return
        module, _, rest = text[1:].partition(MODULE_NAME)
        path = f"{module}{rest}"
        root = module.partition(".")[0]
        imports = self._imported.alone(here.scope, root)
        owner, _, attribute = path.rpartition(".")
        if imports and rest.startswith(".") and MODULE_NAME not in rest:
            found = _Object(owner, imports)
            yield self._fact(form, call, here, arguments, target, found, attribute, new)

    def _object_form(
        self,
        form: PatchForm,
        call: ast.Call,
        here: Here,
        arguments: "_Arguments",
        target: ast.expr | None,
        attribute: ast.expr | None,
        new: ast.expr | None,
    ) -> Iterator[PatchTarget]:
        if target is None or attribute is None:
            return
        owner = self._object(target, here)
        if owner is None:
            module = self._module_text(target, here)
            if module is None:
                return
            owner = _Object(module, ())
        elif form in ("setattr", "delattr") and not owner.imported:
            return
        names = self._texts.of(attribute, here)
        if names is None:
            self.unfolded += 1
            return
        by_text = not owner.imported and isinstance(target, ast.Subscript | ast.Constant)
        for name in names:
            if by_text:
                whole = _Object(f"{owner.target}.{name}", ())
                yield self._fact(form, call, here, arguments, target, whole, None, new)
            else:
                yield self._fact(form, call, here, arguments, target, owner, name, new)

    def _object(self, node: ast.expr, here: Here) -> _Object | None:
        name = dotted(node)
        if name:
            root = name.partition(".")[0]
            imports = self._imported.alone(here.scope, root)
            if imports:
                return _Object(name, imports)
            home = here.scope.home(root)
            return _Object(name, ()) if home is self._notes.module else None
        index = self._notes.import_calls.get(id(node))
        return _Object("import_module", (index,)) if index is not None else None

    def _module_text(self, node: ast.expr, here: Here) -> str | None:
        """The module of `sys.modules["m"]`, or of a text that names it (`patch.multiple("m")`)."""
        if isinstance(node, ast.Subscript):
            if dotted(node.value) != "sys.modules":
                return None
            node = node.slice
        elif not isinstance(node, ast.Constant):
            return None
        texts = self._texts.of(node, here)
        if texts is None or len(texts) != 1 or OWN_NAME in texts[0] or MODULE_NAME in texts[0]:
            return None
        return texts[0]

    def _multiple(
        self, call: ast.Call, here: Here, arguments: "_Arguments"
    ) -> Iterator[PatchTarget]:
        target = arguments.get("target", 0)
        if target is None:
            return
        owner = self._object(target, here)
        texts = None
        if owner is None or not owner.imported:
            texts = self._texts.of(target, here)
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in _MULTIPLE_OPTIONS or keyword.arg == "target":
                continue
            for text in texts or ():
                yield from self._named_target(
                    "mock.patch.multiple",
                    call,
                    here,
                    arguments,
                    target,
                    f"{text}.{keyword.arg}",
                    keyword.value,
                )
            if texts is None and owner is not None:
                yield self._fact(
                    "mock.patch.multiple",
                    call,
                    here,
                    arguments,
                    target,
                    owner,
                    keyword.arg,
                    keyword.value,
                )
        if texts is None and owner is None:
            self.unfolded += 1

    def _dict(self, call: ast.Call, here: Here, arguments: "_Arguments") -> Iterator[PatchTarget]:
        target = arguments.get("in_dict", 0)
        if target is None:
            return
        new = arguments.get("values", 1)
        if isinstance(target, ast.Attribute):
            owner = self._object(target.value, here)
            if owner is not None:
                yield self._fact(
                    "mock.patch.dict", call, here, arguments, target, owner, target.attr, new
                )
            return
        texts = self._texts.of(target, here)
        for text in texts or ():
            yield from self._named_target(
                "mock.patch.dict", call, here, arguments, target, text, new
            )
        if texts is None and not isinstance(target, ast.Name):
            self.unfolded += 1

    def _fact(
        self,
        form: PatchForm,
        call: ast.Call,
        here: Here,
        arguments: "_Arguments",
        span: ast.expr,
        target: _Object,
        attribute: str | None,
        new: ast.expr | None,
    ) -> PatchTarget:
        source = self._notes.source
        return PatchTarget(
            form=form,
            target=target.target,
            attribute=attribute,
            imported=target.imported,
            create=arguments.flag("create", default=False, unknown=True),
            raising=arguments.flag("raising", default=True, unknown=False),
            new=source.short(new) if new is not None else None,
            span=source.span(span),
            call=source.span(call),
            statement=source.statement_span(here.statement),
            scope=self._notes.scope_index(here.scope),
            guard=self._notes.guards.index(here.guard),
            decorator=here.statement is call,
        )


class _Arguments:
    """The arguments of a call by position or keyword."""

    def __init__(self, call: ast.Call) -> None:
        self._positional = call.args
        self._keywords = {k.arg: k.value for k in call.keywords if k.arg is not None}
        self.unpacked = any(isinstance(argument, ast.Starred) for argument in call.args)

    def has(self, keyword: str) -> bool:
        return keyword in self._keywords

    def get(self, keyword: str, position: int, other: str = "") -> ast.expr | None:
        if position < len(self._positional):
            return self._positional[position]
        return self._keywords.get(keyword, self._keywords.get(other))

    def flag(self, keyword: str, *, default: bool, unknown: bool) -> bool:
        """The value of a literal flag; `unknown` where it is computed."""
        node = self._keywords.get(keyword)
        if node is None:
            return default
        return bool(node.value) if isinstance(node, ast.Constant) else unknown
