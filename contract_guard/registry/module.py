"""A module, and what a dotted name may mean: values that resolution passes on."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from contract_guard.facts.model import Binding, ClassFacts, Import, ModuleFacts, Unreadable
from contract_guard.registry.layout import ModuleKind
from contract_guard.registry.model import Reason


class Module:
    """A module of one tree: its place, its facts, and its names by name. Compared by identity.

    `facts` is None for namespace packages, compiled modules without stub and unreadable files.
    They are opened, and the star imports in them found, when they are first asked for.
    """

    __slots__ = (
        "_bindings",
        "_classes",
        "_files",
        "bound",
        "facts",
        "found",
        "key",
        "kind",
        "name",
        "path",
        "stars",
        "static",
        "tree",
        "view",
    )

    facts: ModuleFacts | None
    stars: list[Import]

    def __init__(
        self,
        tree: int,
        key: str,
        kind: ModuleKind,
        path: str,
        name: str,
        files: Mapping[str, ModuleFacts | Unreadable],
    ) -> None:
        self.tree = tree
        self.key = key
        self.kind: ModuleKind = kind
        self.path = path
        self.name = name
        self._files = files
        self._bindings: dict[str, list[Binding]] | None = None
        self._classes: dict[str, list[ClassFacts]] | None = None
        # Answers that other classes here have given before, by what they depend on.
        self.static: dict[tuple[str, bool], object] = {}
        self.found: dict[tuple[str, bool, bool, bool], object] = {}
        self.bound: dict[tuple[int, bool], object] = {}
        self.view: dict[str, Located] | None = None

    def __getattr__(self, name: str) -> object:
        # Only for slots that are still empty: a file may be costly to open.
        if name == "facts":
            found = self._files.get(self.path)
            self.facts = found if isinstance(found, ModuleFacts) else None
            return self.facts
        if name == "stars":
            imports = self.facts.imports if self.facts is not None else ()
            self.stars = [i for i in imports if i.name == "*" and i.scope == 0]
            return self.stars
        raise AttributeError(name)

    @property
    def bindings(self) -> dict[str, list[Binding]]:
        if self._bindings is None:
            self._bindings = {}
            for binding in self.facts.bindings if self.facts else ():
                self._bindings.setdefault(binding.name, []).append(binding)
        return self._bindings

    @property
    def classes(self) -> dict[str, list[ClassFacts]]:
        """Classes by qualified name."""
        if self._classes is None:
            self._classes = {}
            for found in self.facts.classes if self.facts else ():
                qualname = self.facts.scopes[found.scope].qualname if self.facts else found.name
                self._classes.setdefault(qualname, []).append(found)
        return self._classes

    @property
    def is_stub(self) -> bool:
        """True where only a type checker reads the file."""
        return self.path.endswith(".pyi")

    def __repr__(self) -> str:
        return f"<{self.name} {self.path}>"


class Located(NamedTuple):
    """What a dotted module name means. `modules` are the files it may mean, best first; if
    there are none, `missing` is the dotted name of the first part that is not there.

    `certain` is true where Python would look in one of these places and nowhere else that is
    known. `elsewhere` are files of that name below roots that have nothing to do with the
    importer: they turn *missing* into *unknown*.
    """

    status: Literal["exists", "missing", "unknown"]
    modules: tuple[Module, ...] = ()
    certain: bool = False
    elsewhere: tuple[Module, ...] = ()
    reason: Reason | Literal[""] = ""
    missing: str = ""
