"""What a file does to modules by means other than binding names: `globals()`, `sys.modules`."""

import ast

from contract_guard.facts.constants import Constants
from contract_guard.facts.fold import NotFoldable, names_in
from contract_guard.facts.observations import Here, Observations
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import dotted
from contract_guard.facts.tables import Tables
from contract_guard.facts.texts import OWN_NAME, Texts


class ModuleEffects:
    """The result: `dynamic`, `added_names`, `submodule_stubs` of `ModuleFacts`, and the names
    that a lazy-module object put into `sys.modules` serves (`lazy_open`: and maybe others)."""

    def __init__(
        self, notes: Observations, constants: Constants, tables: Tables, texts: Texts
    ) -> None:
        self.dynamic: str | None = None
        self.lazy_names: dict[str, None] = {}
        self.lazy_open = False
        self._added: dict[str, None] = {}
        self._stubs: dict[str, None] = {}
        self._notes = notes
        self._constants = constants
        self._tables = tables
        self._texts = texts
        self._stores()
        self._attribute_stores()
        self._calls()

    @property
    def added_names(self) -> tuple[str, ...]:
        return tuple(self._added)

    @property
    def submodule_stubs(self) -> tuple[str, ...]:
        return tuple(self._stubs)

    # What is written to

    def _is_sys_modules(self, node: ast.expr, scope: ScopeRecord) -> bool:
        if dotted(node) == "sys.modules":
            return True
        if not isinstance(node, ast.Name):
            return False
        home = scope.home(node.id)
        return home is not None and any(
            (fact.module, fact.name) == ("sys", "modules")
            for fact in map(self._notes.imports.__getitem__, home.bound[node.id])
        )

    def _is_own_module(self, node: ast.expr, scope: ScopeRecord) -> bool:
        if isinstance(node, ast.Name):
            home = scope.home(node.id)
            if home is None:
                return False
            known = self._notes.named_values.get((home, node.id))
            return isinstance(known, ast.Subscript) and self._is_own_module(known, scope)
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Name)
            and node.slice.id == "__name__"
            and self._is_sys_modules(node.value, scope)
        )

    def _is_own_namespace(self, node: ast.expr, scope: ScopeRecord) -> bool:
        """`globals()`, `vars()` and `locals()` of the module, `sys.modules[__name__].__dict__`."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if name == "globals":
                return not node.args
            if name in ("vars", "locals"):
                if node.args:
                    return self._is_own_module(node.args[0], scope)
                return scope.kind == "module"
            return False
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "__dict__"
            and self._is_own_module(node.value, scope)
        )

    # What is written

    def _add_names(self, texts: list[str] | None, here: Here, how: str) -> None:
        if self._in_module_getattr(here.scope):
            return  # it keeps what it serves
        if texts is None:
            self.dynamic = self.dynamic or f"names are written through {how}"
        else:
            self._added.update(dict.fromkeys(texts))

    def _in_module_getattr(self, scope: ScopeRecord) -> bool:
        return scope.qualname.partition(".")[0] in ("__getattr__", "__dir__")

    def _add_stubs(self, texts: list[str] | None) -> None:
        for text in texts if texts is not None else ["*"]:
            self._stubs[text.removeprefix(OWN_NAME)] = None

    # Where

    def _stores(self) -> None:
        for node, value, here in self._notes.subscript_stores:
            if self._is_sys_modules(node.value, here.scope):
                if isinstance(node.slice, ast.Name) and node.slice.id == "__name__":
                    self._replaced(value)
                else:
                    self._add_stubs(self._texts.of(node.slice, here))
            elif self._is_own_namespace(node.value, here.scope):
                self._add_names(self._texts.of(node.slice, here), here, _shown(node.value))

    def _replaced(self, value: ast.expr | None) -> None:
        """`sys.modules[__name__] = LazyModule(__name__, file, table, ...)`."""
        if isinstance(value, ast.Call) and "lazy" in dotted(value.func).lower():
            for argument in value.args:
                entries = self._tables.entries(argument)
                if isinstance(argument, ast.Name | ast.Dict) and entries:
                    self.lazy_names.update(dict.fromkeys(entries))
                    for items in entries.values():
                        self.lazy_names.update(dict.fromkeys(items))
                    for keyword in value.keywords:
                        if keyword.arg == "extra_objects":
                            extra = self._tables.names(keyword.value)
                            self.lazy_names.update(dict.fromkeys(extra or ()))
                            self.lazy_open = self.lazy_open or extra is None
                    return
            self.lazy_open = True
            return
        self.dynamic = "the module object is replaced"

    def _attribute_stores(self) -> None:
        for node, here in self._notes.attribute_stores:
            if self._is_own_module(node.value, here.scope):
                self._stored_attribute(node.attr)
        for chain in self._notes.chains:
            if (
                chain.context == "store"
                and chain.outer.value is chain.root
                and self._is_own_module(chain.root, chain.here.scope)
            ):
                self._stored_attribute(chain.outer.attr)

    def _stored_attribute(self, name: str) -> None:
        if name == "__class__":
            self.dynamic = "the module's class is replaced"
        else:
            self._added[name] = None

    def _calls(self) -> None:
        calls = self._notes.calls_by_name
        for call, here in calls.get("setattr", ()):
            if len(call.args) > 1 and self._is_own_module(call.args[0], here.scope):
                self._add_names(self._texts.of(call.args[1], here), here, "setattr")
        for call, here in calls.get("exec", ()):
            if isinstance(call.func, ast.Name) and (
                any(self._is_own_namespace(a, here.scope) for a in call.args[1:])
                if len(call.args) > 1
                else here.scope.kind == "module"
            ):
                self.dynamic = self.dynamic or "names are written through exec"
        for method in ("update", "setdefault", "__setitem__"):
            for call, here in calls.get(method, ()):
                owner = call.func.value if isinstance(call.func, ast.Attribute) else None
                if owner is None:
                    continue
                if self._is_own_namespace(owner, here.scope):
                    self._add_names(self._written(call, method, here), here, _shown(owner))
                elif self._is_sys_modules(owner, here.scope):
                    self._add_stubs(self._written(call, method, here))
        for call, here in calls.get("setitem", ()):
            if len(call.args) > 1 and self._names_sys_modules(call.args[0], here.scope):
                self._add_stubs(self._texts.of(call.args[1], here))
        for call, here in calls.get("dict", ()):
            if (
                isinstance(call.func, ast.Attribute)
                and call.args
                and self._names_sys_modules(call.args[0], here.scope)
                and (len(call.args) > 1 or call.keywords)
            ):
                values = [k.value for k in call.keywords if k.arg == "values"] + call.args[1:2]
                texts = self._tables.names(values[0]) if values else []
                named = [k.arg for k in call.keywords if k.arg not in (None, "values", "clear")]
                self._add_stubs(None if texts is None else [*texts, *(n for n in named if n)])

    def _names_sys_modules(self, node: ast.expr, scope: ScopeRecord) -> bool:
        return self._is_sys_modules(node, scope) or (
            isinstance(node, ast.Constant) and node.value == "sys.modules"
        )

    def _written(self, call: ast.Call, method: str, here: Here) -> list[str] | None:
        """The keys that `update(...)` or `setdefault(key, ...)` write."""
        if method != "update":
            return self._texts.of(call.args[0], here) if call.args else []
        found: list[str] = []
        for argument in call.args:
            try:
                names = self._tables.names(argument)
                names = names if names is not None else names_in(self._constants.fold(argument))
            except NotFoldable:
                return None
            if names is None:
                return None
            found.extend(names)
        for keyword in call.keywords:
            if keyword.arg is None:
                return None
            found.append(keyword.arg)
        return found


def _shown(node: ast.expr) -> str:
    return f"{dotted(node.func)}()" if isinstance(node, ast.Call) else "the module's __dict__"
