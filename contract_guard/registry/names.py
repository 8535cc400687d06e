"""What a name means in a module: bindings, re-exports, star imports, submodules, lazy names.

Every question gives a `Found`. A name is missing only where nothing that is known of the module,
or of any module that writes to it, could have put it there.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, cast

from contract_guard.facts.model import Binding, ClassFacts, ModuleFacts
from contract_guard.registry import guards
from contract_guard.registry.model import Reason
from contract_guard.registry.module import Located, Module
from contract_guard.registry.modules import Modules, above, alternatives
from contract_guard.registry.stores import Store, Stores

# Every module has these; `__path__` only packages.
_MODULE_ATTRIBUTES = frozenset(
    [
        "__name__",
        "__doc__",
        "__file__",
        "__cached__",
        "__loader__",
        "__package__",
        "__spec__",
        "__dict__",
        "__class__",
        "__builtins__",
        "__annotations__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__dir__",
        "__eq__",
        "__ne__",
        "__hash__",
        "__repr__",
        "__str__",
        "__init__",
        "__new__",
        "__reduce__",
        "__reduce_ex__",
        "__sizeof__",
        "__format__",
        "__subclasshook__",
        "__init_subclass__",
        "__module__",
    ]
)


class Target(NamedTuple):
    """What a name leads to: the module itself if `binding` is None, else a definition in it, in
    the body of the class `owner` if there is one."""

    module: Module
    binding: Binding | None = None
    owner: ClassFacts | None = None

    @property
    def symbol(self) -> str:
        if self.binding is None:
            return self.module.name
        qualname = self.binding.name
        if self.owner is not None and self.module.facts is not None:
            qualname = f"{self.module.facts.scopes[self.owner.scope].qualname}.{qualname}"
        return f"{self.module.name}:{qualname}"


class Found(NamedTuple):
    """`targets` are what the name may lead to, () where it exists but nobody can say as what.

    `via` are the modules that re-export it, outermost first.
    """

    status: Literal["exists", "missing", "unknown"]
    targets: tuple[Target, ...] = ()
    reason: Reason | Literal[""] = ""
    via: tuple[str, ...] = ()


_MAX_CHAIN = 100  # re-exports of re-exports

_ABSENT = Found("missing", reason="no-such-name")
_OPAQUE = Found("exists")


class Names:
    """Answers about names, memoised in the modules that they are asked of."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._active: dict[tuple[Module, str, bool], int] = {}
        # The outermost active question that an answer in progress took part in a cycle with.
        self._cycle = 1 << 30
        self._stores = Stores(modules)

    def find(
        self,
        module: Module,
        name: str,
        *,
        type_checking: bool = False,
        importing: bool = True,
        stores: bool = True,
    ) -> Found:
        """What `module.name` is; with `importing`, what `from module import name` gives, which
        loads a submodule if there is no such attribute.

        With `type_checking`, names bound under `if TYPE_CHECKING:` count. Without `stores`,
        what other modules assign to the name does not.
        """
        memo = (name, type_checking, importing, stores)
        known = module.found.get(memo)
        if known is not None:
            return cast("Found", known)
        outer, self._cycle = self._cycle, 1 << 30
        found = self._find(module, name, type_checking, importing, stores)
        if self._cycle >= len(self._active):
            module.found[memo] = found
        self._cycle = min(outer, self._cycle)
        return found

    def _find(
        self, module: Module, name: str, type_checking: bool, importing: bool, stores: bool
    ) -> Found:
        found = self._static(module, name, type_checking)
        child = self._modules.child(module, name)
        if found.status == "exists":
            if child is None or self._comes_from(module, name, child):
                return found
            if all(target != Target(child) for target in found.targets):
                # Loading the submodule sets the attribute too: which came last is not known.
                return found._replace(targets=(*found.targets, Target(child)))
            return found
        facts = module.facts
        if facts is not None and name in facts.getattr_names:
            lazy = self._static(module, name, True)
            if lazy.status == "exists":
                return lazy
            # A package's `__getattr__` that serves a submodule's name loads the submodule.
            return Found("exists", (Target(child),)) if child is not None else _OPAQUE
        if child is not None:
            if importing or child in self._modules.imported:
                return Found("exists", (Target(child),))
            return Found("unknown", reason="submodule-not-imported")
        if found.status == "unknown":
            return found
        if name in _MODULE_ATTRIBUTES or (
            name == "__path__" and module.kind in ("package", "namespace")
        ):
            return _OPAQUE
        reason = self._doubt(module, name, stores, importing)
        return Found("unknown", reason=reason) if reason else found

    def _comes_from(self, module: Module, name: str, child: Module) -> bool:
        """True where the package itself takes `name` out of its submodule of that name, after
        which the attribute is what it took and not the submodule."""
        return any(
            binding.imported >= 0
            and module.facts is not None
            and (imp := module.facts.imports[binding.imported]).name is not None
            and child in self._modules.locate_import(module, imp).modules
            for binding in module.bindings.get(name, ())
        )

    def _doubt(
        self, module: Module, name: str, stores: bool, importing: bool
    ) -> Reason | Literal[""]:
        """Why a name that nothing visible binds may exist all the same."""
        modules = self._modules
        facts = module.facts
        if module.kind in ("compiled", "stub"):
            return "compiled"
        if facts is None:
            if module.kind != "namespace":
                return "unreadable"
        elif facts.getattr_open:
            return "module-getattr"
        why = modules.why_unknown(module, name)
        if why:
            return why
        if module.path and not module.is_stub:
            stub = modules.trees[module.tree].files.get(f"{module.path}i")
            if isinstance(stub, ModuleFacts) and any(b.name == name for b in stub.bindings):
                return "stub"
        if modules.is_configured(module.name, module.tree):
            return "configured"
        # An import runs before any test does: what a test patches in comes too late for it.
        if stores and self.is_stored(Target(module), name, lasting=importing):
            return "assigned-elsewhere"
        # Last: a stub counts only for those who can see it (`Modules.sees_stub`).
        return "stubbed" if modules.is_stubbed(None, module.name) else ""

    def _static(self, module: Module, name: str, type_checking: bool) -> Found:
        """What the module's own statements bind to the name: no submodule, no `__getattr__`."""
        memo = (name, type_checking)
        known = module.static.get(memo)
        if known is not None:
            return cast("Found", known)
        question = (module, name, type_checking)
        depth = self._active.get(question)
        if depth is not None:
            self._cycle = min(self._cycle, depth)
            return _ABSENT
        if len(self._active) > _MAX_CHAIN:
            self._cycle = 0
            return Found("unknown", reason="too-deep")
        depth = self._active[question] = len(self._active)
        outer, self._cycle = self._cycle, 1 << 30
        found = self._bound_here(module, name, type_checking)
        if self._cycle >= depth:
            module.static[memo] = found
            self._cycle = outer
        else:
            self._cycle = min(outer, self._cycle)
        del self._active[question]
        return found

    def _bound_here(self, module: Module, name: str, type_checking: bool) -> Found:
        facts = module.facts
        if facts is None:
            return _ABSENT
        type_checking = type_checking or module.is_stub
        reason: Reason = "no-such-name"
        deleted = 0
        results: list[Found] = []
        bindings = module.bindings.get(name)
        if bindings:
            alive, reason, deleted = _alive(facts, bindings, type_checking)
            for binding in alive:
                if binding.imported < 0:
                    results.append(Found("exists", (Target(module, binding),)))
                else:
                    results.append(self._reexported(module, facts, binding, type_checking))
        found = either(results) if results else None
        if found is not None and found.status == "exists":
            return found
        if module.stars:
            starred = self._starred(module, facts, name, type_checking, deleted)
            if starred is not None:
                return starred
        if found is not None:
            return found
        if name in facts.added_names:
            return _OPAQUE
        if facts.dynamic:
            return Found("unknown", reason="dynamic-module")
        return Found("missing", reason=reason)

    def _reexported(
        self, module: Module, facts: ModuleFacts, binding: Binding, type_checking: bool
    ) -> Found:
        found = self.bound(module, binding.imported, type_checking)
        if found.status == "exists":
            return found._replace(via=(module.name, *found.via))
        if found.status == "unknown":
            # The module that names it is known to bind it, whatever it is.
            return Found("exists", reason=found.reason, via=(module.name,))
        caught = guards.caught(facts, binding.guard, "ImportError")
        return Found("unknown", reason="guarded-import" if caught else "broken-import")

    def _starred(
        self, module: Module, facts: ModuleFacts, name: str, type_checking: bool, after: int
    ) -> Found | None:
        """What the module's star imports below line `after` give under this name."""
        unknown: Found | None = None
        for star in reversed(module.stars):
            if star.statement.line <= after or (
                not type_checking and guards.type_checking(facts, star.guard)
            ):
                continue
            located = self._modules.locate_import(module, star)
            if not located.modules:
                unknown = Found("unknown", reason="star-import")
            for source in located.modules:
                found = self._exported(source, name, type_checking)
                if found.status == "exists":
                    return found._replace(via=(module.name, *found.via))
                if found.status == "unknown":
                    unknown = found
        return unknown

    def _exported(self, source: Module, name: str, type_checking: bool) -> Found:
        """What `from source import *` gives under this name."""
        facts = source.facts
        if facts is None:
            return _ABSENT if source.kind == "namespace" else Found("unknown", reason="star-import")
        if facts.exports is not None and name in facts.exports:
            return self.find(source, name, type_checking=type_checking)
        if not facts.exports_exact:
            found = self._static(source, name, type_checking)
            return Found("unknown", found.targets, "star-import")
        if facts.exports is not None or name.startswith("_"):
            return _ABSENT
        found = self._static(source, name, type_checking)
        if found.status == "missing":
            child = self._modules.child(source, name)
            if child is not None and child in self._modules.imported:
                return Found("exists", (Target(child),))
            if source.kind in ("compiled", "stub"):
                return Found("unknown", reason="star-import")
        return found

    def bound(self, module: Module, index: int, type_checking: bool = False) -> Found:
        """What import `index` of the module binds (for `import a.b`: the module `a`)."""
        memo = (index, type_checking)
        known = module.bound.get(memo)
        if known is not None:
            return cast("Found", known)
        outer, self._cycle = self._cycle, 1 << 30
        found = self._bound(module, index, type_checking)
        if self._cycle >= len(self._active):
            module.bound[memo] = found
        self._cycle = min(outer, self._cycle)
        return found

    def _bound(self, module: Module, index: int, type_checking: bool) -> Found:
        if module.facts is None:
            return _ABSENT
        imp = module.facts.imports[index]
        type_checking = type_checking or guards.type_checking(module.facts, imp.guard)
        located = self._modules.locate_import(module, imp)
        if located.status != "exists":
            return Found(located.status, reason=located.reason)
        if imp.name is not None:
            return self.find_imported(located, imp.name, type_checking)
        targets = located.modules
        if imp.form == "import" and not imp.renamed:
            depth = imp.module.count(".")
            tops = [self._modules.get(m.tree, above(m.key, depth)) for m in targets]
            targets = tuple(top for top in tops if top is not None)
        # With a reason where another file of that name may have been meant.
        unsure = bool(located.elsewhere) or not located.certain
        return Found(
            "exists",
            tuple(Target(target) for target in alternatives(targets)),
            "another-root" if unsure else "",
        )

    def find_imported(self, located: Located, name: str, type_checking: bool = False) -> Found:
        """What `from module import name` gives, where the module may be one of several files."""
        results = [
            self.find(module, name, type_checking=type_checking) for module in located.modules
        ]
        existing = {
            module: result
            for module, result in zip(located.modules, results, strict=True)
            if result.status == "exists"
        }
        if existing:
            return either([existing[module] for module in alternatives(tuple(existing))])
        for result in results:
            if result.status == "unknown":
                return result
        if not located.certain or any(
            self.find(module, name, type_checking=type_checking).status != "missing"
            for module in located.elsewhere
        ):
            return Found("unknown", reason="another-root")
        return results[0]

    def is_stored(self, owner: Target, name: str, *, lasting: bool = False) -> bool:
        """True where any module assigns to this attribute of the module or class; with
        `lasting`, patches that end with a test do not count."""
        for store in self._stores.to(name):
            if lasting and not store.lasting:
                continue
            prefix = store.chain[:-1]
            if owner.binding is None:
                if any(owner in self._walk(store.module, i, prefix) for i in store.imported):
                    return True
            elif owner.binding.name in (prefix or _imported_names(store)):
                return True
        return False

    def _walk(self, module: Module, index: int, chain: Iterable[str]) -> Sequence[Target]:
        targets = self.bound(module, index).targets
        for part in chain:
            targets = tuple(
                inner
                for target in targets
                if target.binding is None
                for inner in self.find(target.module, part, stores=False).targets
            )
        return targets


def _imported_names(store: Store) -> tuple[str | None, ...]:
    facts = store.module.facts
    return tuple(facts.imports[index].name for index in store.imported) if facts else ()


def _alive(
    facts: ModuleFacts, bindings: Sequence[Binding], type_checking: bool
) -> tuple[list[Binding], Reason, int]:
    """The bindings that can be in force after the module ran, why there are none, and the line
    of the last `del` that always runs, 0 if there is none."""
    alive: list[Binding] = []
    reason: Reason = "no-such-name"
    deleted = 0
    for binding in bindings:
        if binding.kind == "annotation":
            continue
        if binding.guard >= 0:
            if guards.unreachable(facts, binding.guard):
                continue
            if not type_checking and guards.type_checking(facts, binding.guard):
                reason = "type-checking-only"
                continue
        if binding.kind == "del":
            if binding.guard < 0 and not binding.via_global:
                alive.clear()
                reason = "deleted"
                deleted = binding.statement.line
            continue
        alive.append(binding)
    return alive, reason, deleted


def either(results: Sequence[Found]) -> Found:
    """One answer from several that may hold: something exists if any of them does."""
    exists = [result for result in results if result.status == "exists"]
    if not exists:
        return next((r for r in results if r.status == "unknown"), results[0])
    if len(exists) == 1:
        return exists[0]
    if any(not result.targets for result in exists):
        return _OPAQUE
    # By identity: facts hash all that they hold.
    targets = {(t.module, id(t.binding)): t for result in exists for t in result.targets}
    return Found("exists", tuple(targets.values()), via=exists[-1].via)
