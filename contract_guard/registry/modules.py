"""Modules of all trees, and which of them a dotted name means for an importer."""

import fnmatch
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from contract_guard.facts.model import Import, ModuleFacts
from contract_guard.registry.layout import Layout, ModuleKind, Place, Standing, key_of, parent
from contract_guard.registry.model import Reason, Tree
from contract_guard.registry.module import Located, Module


class _Step(NamedTuple):
    """Where a walk down from a top-level module ended."""

    module: Module | None
    reason: Reason | Literal[""] = ""
    missing: str = ""


class Modules:
    """The modules of the project (tree 0) and of everything that it is checked against."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.trees = tuple(trees)
        self.layouts = tuple(Layout(tree) for tree in trees)
        self._modules: dict[tuple[int, str], Module] = {}
        self._by_path: dict[tuple[int, str], Module] = {}
        self._views: dict[tuple[int, str, bool], dict[str, Located]] = {}
        self._imported: set[Module] | None = None
        self._stubs: frozenset[str] | None = None
        self._judging = False
        self._entered: set[Module] = set()
        self._named: dict[str, list[Module]] | None = None

    def get(self, tree: int, key: str) -> Module | None:
        """The module with this key, None where there is none."""
        module = self._modules.get((tree, key))
        if module is None:
            layout = self.layouts[tree]
            kind = layout.kind(key)
            if kind is None:
                return None
            path = layout.path(key)
            module = self._make(tree, key, kind, path)
            self._modules[tree, key] = module
        return module

    def at(self, path: str, tree: int = 0) -> Module:
        """The module that a file holds. A file that another hides (`a.py` beside
        `a/__init__.py`, `a.pyi` beside `a.py`) is a module that no name leads to."""
        known = self._by_path.get((tree, path))
        if known is None:
            key = key_of(path)
            known = self.get(tree, key)
            if known is None or known.path != path:
                kind: ModuleKind = "stub" if path.endswith(".pyi") else "module"
                known = self._make(tree, key, kind, path)
            self._by_path[tree, path] = known
        return known

    def _make(self, tree: int, key: str, kind: ModuleKind, path: str) -> Module:
        name = self.layouts[tree].name(key)
        return Module(tree, key, kind, path, name, self.trees[tree].files)

    def all(self, tree: int | None = None) -> Iterator[Module]:
        """Every module that a file of the tree (or of all trees) holds."""
        for index in range(len(self.trees)) if tree is None else (tree,):
            for path in self.trees[index].files:
                yield self.at(path, index)

    def opened(self) -> Iterator[Module]:
        """The modules of all trees that have no digest."""
        for index, tree in enumerate(self.trees):
            if tree.digest is None:
                yield from self.all(index)

    def mentioning(self, name: str) -> Iterator[Module]:
        """Modules in which an identifier may occur: all others certainly lack it."""
        yield from self.opened()
        for index, tree in enumerate(self.trees):
            if tree.digest is not None:
                for path in tree.digest.mentioning(name):
                    yield self.at(path, index)

    def starring(self) -> Iterator[Module]:
        """Modules that may have a star import."""
        yield from self.opened()
        for index, tree in enumerate(self.trees):
            if tree.digest is not None:
                for path in tree.digest.starring:
                    yield self.at(path, index)

    def named(self, dotted: str) -> list[Module]:
        """All modules that people know by this name, those of the project first."""
        if self._named is None:
            self._named = {}
            for module in self.all():
                known = self.get(module.tree, module.key)
                if known is not None and known not in self._named.setdefault(module.name, []):
                    self._named[module.name].append(known)
        return self._named.get(dotted, [])

    def child(self, module: Module, name: str) -> Module | None:
        """The submodule `name` of a package; `pkg.__init__` is the package's file once more."""
        if name == "__init__" and module.kind == "package":
            return module
        if module.kind not in ("package", "namespace", "compiled", "stub"):
            return None
        return self.get(module.tree, f"{module.key}/{name}" if module.key else name)

    def package(self, module: Module, level: int) -> Module | None:
        """The package that `level` leading dots mean in `module`, None above the root."""
        key = (
            module.key
            if module.path.rpartition("/")[2].startswith("__init__.")
            else parent(module.key)
        )
        for _ in range(level - 1):
            if not key:
                return None
            key = parent(key)
        return self.get(module.tree, key)

    def locate_import(self, module: Module, found: Import) -> Located:
        """What the module part of an import means."""
        if not found.level:
            return self.locate(module, found.module)
        base = self.package(module, found.level)
        if base is None:
            return Located("unknown", reason="outside-root")
        if not found.module:
            return Located("exists", (base,), certain=True)
        step = self._descend(base, found.module.split("."), base.name)
        if step.module is not None:
            return Located("exists", (step.module,), certain=True)
        return self._judged(module, [], step, certain=True)

    def locate(self, importer: Module | None, dotted: str) -> Located:
        """What an absolute module name means in `importer`; None: for anyone who installs."""
        view = self._view(importer)
        located = view.get(dotted)
        if located is None:
            located = view[dotted] = self._locate(importer, dotted)
        return located

    def _view(self, importer: Module | None) -> dict[str, Located]:
        """Answers are shared by importers with the same `sys.path`."""
        if importer is None:
            return self._views.setdefault((-1, "", False), {})
        if importer.view is None:
            loose = self.layouts[importer.tree].is_loose(importer.path)
            directory = parent(importer.path or f"{importer.key}/")
            own = importer.path if self._stubs_any(importer) else directory
            importer.view = self._views.setdefault((importer.tree, own, loose), {})
        return importer.view

    def _places(self, importer: Module | None, head: str) -> Iterator[tuple[int, Place]]:
        own = importer.tree if importer is not None else -1
        if importer is not None:
            for place in self.layouts[own].places(importer.path, head):
                yield own, place
        for index, layout in enumerate(self.layouts):
            # What the project is checked against does not import the project.
            if index != own and (index or own < 0):
                for place in layout.places("", head):
                    yield index, place

    def _locate(self, importer: Module | None, dotted: str) -> Located:
        head, *rest = dotted.split(".")
        modules: list[Module] = []
        elsewhere: list[Module] = []
        failed: _Step | None = None
        certain = failed_certain = False
        for tree, place in self._places(importer, head):
            top = self.get(tree, place.key)
            if top is None:
                continue
            step = self._descend(top, rest, head)
            if place.standing is Standing.UNRELATED and head not in self.trees[tree].former:
                if step.module is not None or step.reason:
                    elsewhere.append(step.module or top)
                continue
            sure = (
                place.standing is Standing.CERTAIN
                or head in self.trees[tree].former
                or (place.standing is Standing.REACHED and self._is_shown_to_be_ours(top))
            )
            if step.module is not None:
                modules.append(step.module)
                certain = certain or sure
            elif failed is None or (sure and not failed_certain) or (step.reason and sure):
                failed, failed_certain = step, failed_certain or sure
        if modules:
            return Located("exists", tuple(modules), certain, tuple(elsewhere))
        if failed is None and any(head in tree.former for tree in self.trees):
            return Located("missing", reason="no-such-module", missing=head)
        return self._judged(importer, elsewhere, failed, failed_certain)

    def _judged(
        self, importer: Module | None, elsewhere: list[Module], failed: _Step | None, certain: bool
    ) -> Located:
        if failed is None:
            return Located("unknown", reason="external")
        if failed.reason:
            return Located("unknown", reason=failed.reason, missing=failed.missing)
        if elsewhere or not certain:
            return Located("unknown", reason="another-root", missing=failed.missing)
        if self.is_stubbed(importer, failed.missing):
            return Located("unknown", reason="stubbed", missing=failed.missing)
        return Located("missing", reason="no-such-module", missing=failed.missing)

    def _is_shown_to_be_ours(self, top: Module) -> bool:
        """A directory that only may be meant counts once something imports a module through it:
        before that, it may just share its name with an installed package."""
        if self._judging:
            return False
        if top.kind == "namespace" and self.layouts[top.tree].holds_packages(top.key):
            return False
        return bool(self.imported) and top in self._entered

    def _descend(self, module: Module, rest: Sequence[str], dotted: str) -> _Step:
        for part in rest:
            child = self.child(module, part)
            dotted = f"{dotted}.{part}" if dotted else part
            if child is None:
                return _Step(None, self.why_unknown(module, part), dotted)
            module = child
        return _Step(module)

    def why_unknown(self, module: Module, part: str) -> Reason | Literal[""]:
        """Why a submodule without a file may exist all the same; "" where nothing says so."""
        tree = self.trees[module.tree]
        dotted = f"{module.name}.{part}" if module.name else part
        if part in tree.hints or dotted in tree.hints or _any_above(dotted, tree.hints):
            return "generated"
        if self.is_configured(dotted, module.tree):
            return "configured"
        if module.kind in ("compiled", "stub"):
            return "compiled"
        if module.kind == "namespace":
            return "external" if self._is_shared(module) else ""
        if module.facts is None:
            return "unreadable"
        if module.facts.dynamic:
            return "dynamic-module"
        extends = module.kind == "package" and "__path__" in module.facts.loaded_names
        if extends or "__path__" in module.bindings:
            return "dynamic-module"
        if any(s in (f".{part}", ".*") for s in module.facts.submodule_stubs):
            return "stubbed"
        return ""

    def _is_shared(self, module: Module) -> bool:
        """True for a namespace package of a release, of which other distributions may hold more."""
        if not module.tree:
            return False
        key = module.key
        while key:
            if self.layouts[module.tree].kind(key) == "package":
                return False
            key = parent(key)
        return True

    def is_configured(self, dotted: str, tree: int) -> bool:
        """True for names that the configuration calls dynamic."""
        dotted = dotted.replace(":", ".")
        return any(
            fnmatch.fnmatchcase(dotted, pattern) or dotted.startswith(f"{pattern}.")
            for pattern in (p.replace(":", ".") for p in self.trees[tree].dynamic_names)
        )

    def is_stubbed(self, importer: Module | None, dotted: str) -> bool:
        """True where something puts a module of this name, or one above it, into sys.modules."""
        if self._stubs is None:
            stubs = {
                stub
                for module in self.opened()
                if module.facts
                for stub in module.facts.submodule_stubs
            }
            stubs.update(*(tree.digest.stubs for tree in self.trees if tree.digest))
            self._stubs = frozenset(stub for stub in stubs if not stub.startswith((".", "*")))
        if dotted in self._stubs or _any_above(dotted, self._stubs):
            return True
        if importer is None or importer.facts is None:
            return False
        own = importer.facts.submodule_stubs
        return dotted.partition(".")[0] in own or self._stubs_any(importer)

    def sees_stub(self, importer: Module, dotted: str) -> bool:
        """True where a stub of this module, or of one above it, may be what `importer` gets.

        A test file's stub is for the tests in its directory and below, and for tests that import
        the file: elsewhere it is seen only by the luck of the order in which tests run.
        """
        layout = self.layouts[importer.tree]
        if importer.tree or self._stubs_any(importer):
            return True
        for path, facts in self.trees[0].files.items():
            if not isinstance(facts, ModuleFacts) or not facts.submodule_stubs:
                continue
            stubs = frozenset(facts.submodule_stubs)
            if dotted not in stubs and not _any_above(dotted, stubs):
                continue
            if not layout.is_test(path):
                return True
            directory, _, name = path.rpartition("/")
            stem = name.removesuffix(".py")
            if layout.is_test(importer.path) and (
                importer.path.startswith(f"{directory}/" if directory else "")
                or (importer.facts is not None and _names_module(importer.facts, stem))
            ):
                return True
        return any(dotted in tree.digest.stubs for tree in self.trees if tree.digest)

    def _stubs_any(self, importer: Module) -> bool:
        """The importer, or a conftest.py above it, stubs modules whose names cannot be told."""
        layout = self.layouts[importer.tree]
        paths = [importer.path]
        if importer.tree == 0 and layout.is_test(importer.path):
            paths += layout.conftests(importer.path)
        files = self.trees[importer.tree].files
        return any(
            isinstance(facts := files.get(path), ModuleFacts) and "*" in facts.submodule_stubs
            for path in paths
        )

    @property
    def imported(self) -> set[Module]:
        """Modules that any import statement or patch target anywhere loads."""
        if self._imported is None:
            self._judging = True
            found: set[Module] = set()
            for module in self.opened():
                if module.facts is not None:
                    self._add_imported(module, module.facts, found)
            for index, tree in enumerate(self.trees):
                keys = tree.digest.imported if tree.digest is not None else ()
                found.update(m for key in keys if (m := self.get(index, key)) is not None)
            self._judging = False
            self._imported = found
            # Answers given meanwhile did not know which namespace directories are ours.
            for view in self._views.values():
                for dotted in [d for d, located in view.items() if not located.certain]:
                    del view[dotted]
        return self._imported

    def _add_imported(self, module: Module, facts: ModuleFacts, found: set[Module]) -> None:
        for imp in facts.imports:
            for target in alternatives(self.locate_import(module, imp).modules):
                self._add_with_parents(target, found)
                if not imp.level and target.path and "." in imp.module:
                    top = self.get(target.tree, above(target.key, imp.module.count(".")))
                    self._entered.add(top or target)
                if imp.name is not None:
                    child = self.child(target, imp.name)
                    if child is not None:
                        found.add(child)
                        if not imp.level and child.path and "." not in imp.module:
                            self._entered.add(target)
        for patch in facts.patches:
            if patch.imported or "." not in patch.target:
                continue
            dotted = patch.target if patch.attribute else patch.target.rpartition(".")[0]
            located = self.locate(module, dotted)
            while not located.modules and "." in dotted:
                dotted = dotted.rpartition(".")[0]
                located = self.locate(module, dotted)
            for target in alternatives(located.modules):
                self._add_with_parents(target, found)

    def _add_with_parents(self, module: Module, found: set[Module]) -> None:
        above: Module | None = module
        while above is not None and above not in found:
            found.add(above)
            above = self.get(above.tree, parent(above.key)) if above.key else None


def alternatives(modules: Sequence[Module]) -> Sequence[Module]:
    """Of the files that a name may mean, best first, those that are not hidden by another: the
    project's own, or one in each of the versions that it is checked against."""
    if not modules or modules[0].tree == 0:
        return modules[:1]
    first: dict[int, Module] = {}
    for module in modules:
        first.setdefault(module.tree, module)
    return tuple(first.values())


def above(key: str, levels: int) -> str:
    parts = key.split("/")
    return "/".join(parts[: len(parts) - levels])


def _any_above(dotted: str, names: frozenset[str]) -> bool:
    while "." in dotted:
        dotted = dotted.rpartition(".")[0]
        if "." in dotted and dotted in names:
            return True
    return False


def _names_module(facts: ModuleFacts, name: str) -> bool:
    """Whether an import of the file names a module `name`, by its last part."""
    return any(imp.name == name or imp.module.rpartition(".")[2] == name for imp in facts.imports)
