"""`Registry`: the questions that detectors, reports and `diff` ask of a tree of facts.

Everything is answered from facts alone, lazily, and kept.
"""

import copy
from collections.abc import Collection, Iterable, Sequence

from contract_guard.facts.fold import NotFoldable
from contract_guard.facts.model import Import, ModuleFacts, PatchTarget, Span, Use
from contract_guard.registry import guards
from contract_guard.registry.layout import Layout
from contract_guard.registry.members import Chain, Importing, Members
from contract_guard.registry.model import Producer, Resolution, Tree
from contract_guard.registry.module import Located, Module
from contract_guard.registry.modules import Modules
from contract_guard.registry.names import Found, Names, Target, either
from contract_guard.registry.values import Values

_START = Span(1, 1, 1, 1)
_EXTERNAL = Resolution("unknown", "", "external")


def build(tree: Tree, *others: Tree) -> "Registry":
    """The registry of a project, with the trees of what it is checked against."""
    return Registry(tree, *others)


class Registry:
    """All names of a project and of what it is checked against.

    `tree` is the project, `trees` it and the others. Files of the project are named by their
    path. No method raises for what the analysed code says.
    """

    def __init__(self, tree: Tree, *others: Tree) -> None:
        self.tree = tree
        self.trees = (tree, *others)
        self.modules = Modules(self.trees)
        self.names = Names(self.modules)
        self.members = Members(self.modules, self.names)
        self.values = Values(self.members)
        self.whole: Registry = self
        # What others work out from all of it, by type; parts share it.
        self.kept: dict[type, object] = {}
        self._paths: Collection[str] | None = None

    def only(self, paths: Collection[str]) -> "Registry":
        """The same registry, with the same answers, whose `facts` gives `paths` alone: for asking
        after a few files. `whole` leads back to this one."""
        part = copy.copy(self)
        part._paths = frozenset(paths)
        return part

    @property
    def layout(self) -> Layout:
        """Where the project's modules lie, and which of them are tests."""
        return self.modules.layouts[0]

    def module(self, path: str) -> Module:
        """The module that a file of the project holds."""
        return self.modules.at(path)

    def facts(self) -> Iterable[tuple[str, ModuleFacts]]:
        """The project's readable files, by path."""
        for path, facts in self.tree.files.items():
            if isinstance(facts, ModuleFacts) and (self._paths is None or path in self._paths):
                yield path, facts

    def resolve_import(self, path: str, imp: Import) -> Resolution:
        """Whether an import of the file finds its module and its name.

        For a star import: whether everything that `__all__` promises is there.
        """
        module = self.modules.at(path)
        located = self.modules.locate_import(module, imp)
        asked = _asked(module, imp, located)
        if located.status != "exists":
            gone = located.status == "missing"
            symbol = located.missing if gone else asked
            return Resolution(located.status, symbol, located.reason, missing_module=gone)
        target = located.modules[0]
        if imp.name is None:
            return self._resolution(Found("exists", (Target(target),)), target.name, 0)
        if imp.name == "*":
            return self._resolve_star(located)
        facts = module.facts
        lenient = module.is_stub or (facts is not None and guards.type_checking(facts, imp.guard))
        found = self.names.find_imported(located, imp.name, lenient)
        symbol = f"{target.name}:{imp.name}"
        if found.reason == "stubbed" and not self.modules.sees_stub(module, target.name):
            return Resolution("missing", symbol, "no-such-name")
        return self._resolution(found, symbol, 0)

    def _resolve_star(self, located: Located) -> Resolution:
        source = located.modules[0]
        for name in (source.facts.exports or ()) if source.facts else ():
            if self.names.find_imported(located, name).status == "missing":
                return Resolution("missing", f"{source.name}:{name}", "no-such-name")
        return Resolution("exists", source.name)

    def resolve_use(self, path: str, use: Use) -> Resolution:
        """How far an attribute chain on an imported name leads.

        `depth` parts of `use.chain` were followed. For a store or del, what other modules store
        under that name does not count.
        """
        module = self.modules.at(path)
        roots = self._roots(module, use.imported, use.guard)
        if not roots.targets:
            # Nothing is known of the root: an import that fails is reported at the import.
            reason = roots.reason or "object"
            return _EXTERNAL if reason == "external" else Resolution("unknown", "", reason)
        return self._follow(roots, use.chain, stores=use.context == "load")

    def _roots(self, module: Module, imported: Sequence[int], guard: int) -> Found:
        """What the imported root of a chain may be."""
        facts = module.facts
        lenient = module.is_stub or (facts is not None and guards.type_checking(facts, guard))
        results = [self.names.bound(module, index, lenient) for index in imported]
        if not results:
            return Found("unknown", reason="not-an-import")
        found = either(results)
        if found.status == "missing":
            return Found("unknown", reason="broken-import")
        if any(not result.targets or result.reason for result in results):
            # One of several imports leads out of what is known.
            return Found("unknown", found.targets, found.reason or "external")
        return found

    def _follow(
        self,
        roots: Found,
        chain: Sequence[str],
        *,
        stores: bool = True,
        importing: Importing = "",
    ) -> Resolution:
        followed = self.members.follow(roots.targets, chain, stores=stores, importing=importing)
        symbol = self._symbol(roots.targets[0], followed, chain)
        if followed.found.status == "missing" and roots.status == "unknown":
            return Resolution("unknown", symbol, roots.reason or "external", depth=followed.depth)
        found = followed.found._replace(via=(*roots.via, *followed.found.via))
        return self._resolution(found, symbol, followed.depth)

    @staticmethod
    def _symbol(root: Target, followed: Chain, chain: Sequence[str]) -> str:
        """The name of the last part that was looked at, in the module where it was looked for."""
        if followed.found.status == "exists":
            if followed.depth == 0:
                return root.symbol
            last = chain[followed.depth - 1]
        else:
            last = chain[followed.depth]
        owner = followed.owner or root
        targets = followed.found.targets
        if len(targets) == 1 and targets[0].binding is None:
            return targets[0].module.name
        return f"{owner.symbol}{'.' if owner.binding is not None else ':'}{last}"

    def resolve_patch(self, path: str, patch: PatchTarget) -> Resolution:
        """What a patch target names: a dotted string, or an attribute of an imported object.

        `depth` counts from the first part after the first module's name.
        """
        module = self.modules.at(path)
        attributes = () if patch.attribute is None else (patch.attribute,)
        if patch.imported:
            roots = self._roots(module, patch.imported, patch.guard)
            chain = (*patch.target.split(".")[1:], *attributes)
            if not roots.targets:
                return Resolution("unknown", "", roots.reason or "object")
            return self._follow(roots, chain, stores=False)
        if not patch.target or patch.form in ("setattr", "delattr"):
            return Resolution("unknown", "", "not-an-import")
        importing = "modules-first" if patch.form.startswith("mock") else "attributes-first"
        parts = (*patch.target.split("."), *attributes)
        return self._dotted(module, parts, stores=False, importing=importing)

    def resolve_dotted(self, dotted: str, importer: str = "") -> Resolution:
        """What `a.b.name` means when it is looked up as `mock.patch` does: modules are imported
        on the way, the last part is an attribute. `importer` is a file of the project."""
        module = self.modules.at(importer) if importer else None
        return self._dotted(module, dotted.split("."))

    def _dotted(
        self,
        importer: Module | None,
        parts: Sequence[str],
        *,
        stores: bool = True,
        importing: Importing = "modules-first",
    ) -> Resolution:
        located = self.modules.locate(importer, parts[0])
        if located.status != "exists":
            return Resolution(located.status, parts[0], located.reason)
        targets = tuple(Target(module) for module in located.modules)
        certain = "exists" if located.certain and not located.elsewhere else "unknown"
        roots = Found(certain, targets, "" if certain == "exists" else "another-root")
        found = self._follow(roots, parts[1:], stores=stores, importing=importing)
        if found.status == "missing" and found.depth < len(parts) - 2 and ":" in found.symbol:
            owner, _, name = found.symbol.partition(":")
            if "." not in name:
                # What is asked for has parts below it: a module was meant, or a class.
                return Resolution(
                    "missing",
                    f"{owner}.{name}",
                    "no-such-module",
                    missing_module=True,
                    depth=found.depth,
                )
        return found

    def resolve_name(self, path: str, dotted: str) -> Resolution:
        """What a dotted name means at the top level of the file."""
        module = self.modules.at(path)
        chain = self.members.resolve(module, dotted)
        symbol = f"{module.name}:{dotted}"
        if chain.found.status == "exists" and len(chain.found.targets) == 1:
            symbol = chain.found.targets[0].symbol
        return self._resolution(chain.found, symbol, chain.depth)

    def resolve_symbol(self, symbol: str) -> Resolution:
        """What a symbol (`package.module:Class.attr`, or a module's dotted name) means, as anyone
        sees it who imports it; modules that are not installed (tests) are looked for by name."""
        targets = self._symbol_targets(symbol)
        if not targets.targets:
            return Resolution(targets.status, symbol, targets.reason)
        return self._resolution(targets, symbol, 0)

    def _symbol_targets(self, symbol: str) -> Found:
        dotted, _, qualname = symbol.partition(":")
        modules = self.modules.named(dotted)
        if not modules:
            return Found("missing", reason="no-such-module")
        chain = qualname.split(".") if qualname else []
        results = [self.members.follow((Target(module),), chain) for module in modules]
        whole = [r.found for r in results if r.found.status != "exists" or r.depth == len(chain)]
        return either(whole) if whole else Found("unknown", reason="object")

    def producer(self, symbol: str) -> Producer | None:
        """The one definition that a symbol leads to, None where there is none or no single one."""
        return self.resolve_symbol(symbol).producer

    def value_of(self, symbol: str) -> object:
        """The value that a symbol folds to. Raises `NotFoldable`."""
        targets = self._symbol_targets(symbol).targets
        if len(targets) != 1:
            raise NotFoldable(f"{symbol} has no single definition")
        return self.values.of(targets[0])

    def evaluate(self, path: str, text: str) -> object:
        """The value of an expression at the top level of a file. Raises `NotFoldable`."""
        return self.values.evaluate(self.modules.at(path), text)

    def _resolution(self, found: Found, symbol: str, depth: int) -> Resolution:
        return Resolution(
            found.status,
            symbol,
            found.reason if found.status != "exists" else "",
            self._producer(found.targets) if found.status == "exists" else None,
            found.via,
            depth=depth,
        )

    def _producer(self, targets: Sequence[Target]) -> Producer | None:
        if not targets:
            return None
        target = targets[-1]
        if len(targets) > 1:
            symbol = target.symbol
            if any(t.module is not target.module or t.symbol != symbol for t in targets[:-1]):
                return None
        return self._definition(target)

    def _definition(self, target: Target) -> Producer:
        module, binding = target.module, target.binding
        return Producer(
            symbol=target.symbol,
            path=module.path,
            span=binding.span if binding is not None else _START,
            kind=binding.kind if binding is not None else "module",
            origin=self.trees[module.tree].origin,
        )

    def test_at(self, path: str, scope: int) -> str | None:
        """The node id of the test that a scope of the file lies in, None outside of tests."""
        facts = self.tree.files.get(path)
        if not isinstance(facts, ModuleFacts) or not self.layout.is_test_module(path):
            return None
        while scope > 0:
            found = facts.scopes[scope]
            if any(test.scope == scope for test in facts.pytest.tests):
                return f"{path}::{found.qualname.replace('.', '::')}"
            scope = found.parent
        return None


def _asked(module: Module, imp: Import, located: Located) -> str:
    dotted = located.missing or f"{'.' * imp.level}{imp.module}"
    return dotted if imp.name is None else f"{dotted}:{imp.name}"
