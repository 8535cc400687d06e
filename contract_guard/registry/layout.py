"""From file paths to module names, and from module names back to the files that could be meant.

A module is known by its `key`: its path without suffix, and for a package its directory
(`src/pkg/sub`). One key may have several dotted names and one dotted name several keys, since
what stands on `sys.path` depends on who imports: pytest puts the first directory without
`__init__.py` above a test file there, a script its own directory, an installed project its
packages wherever they lie in the repository.
"""

import fnmatch
import re
import sys
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Literal, NamedTuple

from contract_guard.facts.model import ModuleFacts
from contract_guard.registry.model import Tree

ModuleKind = Literal["package", "module", "compiled", "stub", "namespace"]

_TEST_DIRECTORIES = frozenset({"tests", "test"})
_SOURCE_DIRECTORIES = frozenset({"src", "python", "lib", "source"})
# Directories whose content is not installed, and names that distributions on PyPI have as well.
_LOOSE = frozenset(
    [
        "tests",
        "test",
        "testing",
        "doc",
        "docs",
        "example",
        "examples",
        "sample",
        "samples",
        "benchmark",
        "benchmarks",
        "bench",
        "script",
        "scripts",
        "tool",
        "tools",
        "util",
        "utils",
        "common",
        "helper",
        "helpers",
        "dataset",
        "datasets",
        "data",
        "model",
        "models",
        "evaluate",
        "evaluation",
        "eval",
        "ci",
        "config",
        "configs",
        "core",
        "demo",
        "demos",
        "notebook",
        "notebooks",
        "recipe",
        "recipes",
        "third_party",
        "thirdparty",
        "3rdparty",
        "third-party",
        "vendor",
        "vendored",
        "_vendor",
        "external",
        "extern",
        "submodules",
        "fixtures",
        "resources",
        "templates",
        "build",
        "dist",
        "packaging",
        "plugins",
        "experiments",
        "research",
        "tutorials",
        "setup",
        "conftest",
        "noxfile",
        "tasks",
    ]
)


class Standing(IntEnum):
    """How sure it is that Python would look in a place for one importer."""

    UNRELATED = 0  # a root that has nothing to do with the importer
    NEAR = 1  # the importer lies below that root
    REACHED = 2  # the root is on `sys.path`, but an installed package of that name would win
    CERTAIN = 3


class Place(NamedTuple):
    """A module that a top-level name may mean for one importer."""

    key: str
    standing: Standing


class Layout:
    """Where the modules of one tree lie. Answers are memoised; nothing is read from disk."""

    def __init__(self, tree: Tree) -> None:
        self._roots = tuple(root.strip("/").removeprefix("./").rstrip(".") for root in tree.roots)
        self._pythonpath = tuple(
            p.strip("/").removeprefix("./").rstrip(".") for p in tree.pythonpath
        )
        self._nested_pythonpath = tree.nested_pythonpath
        self._test_names = [p for p in tree.test_patterns if "/" not in p]
        self._test_paths = [p for p in tree.test_patterns if "/" in p]
        self._test_name = re.compile("|".join(map(fnmatch.translate, self._test_names)) or r"(?!)")
        self._nodes = _nodes(tree.files, tree.compiled)
        # A stray `__init__.py` makes no package of what is on `sys.path` itself.
        # Read from what files import, unlike all else here.
        self.stray = tuple(_stray_packages(tree, self._nodes))
        for root in (*self._roots, *self.stray):
            self._nodes[root] = ("namespace", "")
        self._conftests = {
            parent(path) for path in tree.files if path.rpartition("/")[2] == "conftest.py"
        }
        self._tops: dict[str, list[str]] = {}
        self._children: dict[str, list[str]] = {}
        for key, (kind, _) in self._nodes.items():
            if not key:
                continue
            above, _, name = key.rpartition("/")
            self._children.setdefault(above, []).append(name)
            if self.kind(above) != "package" and kind:
                self._tops.setdefault(name, []).append(above)
        self._testing = self._testing_directories(tree.files)
        self._homes: dict[str, str] = {}
        self._places: dict[tuple[str, bool, str], tuple[Place, ...]] = {}

    def kind(self, key: str) -> ModuleKind | None:
        node = self._nodes.get(key)
        return node[0] if node else None

    def path(self, key: str) -> str:
        """The file that holds the module's names, "" for namespace packages."""
        node = self._nodes.get(key)
        return node[1] if node else ""

    def children(self, key: str) -> list[str]:
        """Names of the modules directly below a package."""
        return self._children.get(key, [])

    def home(self, directory: str) -> str:
        """The first directory at or above `directory` that is no regular package."""
        found = self._homes.get(directory)
        if found is None:
            above = directory
            while above and self.kind(above) == "package":
                above = parent(above)
            found = self._homes[directory] = above
        return found

    def name(self, key: str) -> str:
        """The dotted name by which people know the module."""
        root = self._name_root(key)
        below = key[len(root) + 1 :] if root else key
        if not all(part.isidentifier() for part in below.split("/")):
            home = self.home(parent(key))
            below = key[len(home) + 1 :] if home else key
        return below.replace("/", ".")

    def _name_root(self, key: str) -> str:
        nested = tuple(path for _, path in self._nested_pythonpath)
        # That the root itself is on the path, for tests, says nothing of what lies in `src`.
        on_path = tuple(path for path in self._pythonpath + nested if path)
        for root in sorted(self._roots + on_path, key=len, reverse=True):
            if is_below(key, root):
                return root
        home = self.home(parent(key))
        parts = home.split("/")
        for index in range(len(parts) - 1, -1, -1):
            if parts[index] in _SOURCE_DIRECTORIES:
                return "/".join(parts[: index + 1])
            if parts[index] in _TEST_DIRECTORIES:
                return "/".join(parts[:index])
        return home if self.kind(key) == "package" or home != parent(key) else ""

    def is_test_module(self, path: str) -> bool:
        """True for files that pytest would collect tests from."""
        name = path.rpartition("/")[2]
        return (
            self._test_name.match(name) is not None
            or any(fnmatch.fnmatch(path, pattern) for pattern in self._test_paths)
        ) and name.endswith(".py")

    def is_test(self, path: str) -> bool:
        """True for test modules, conftests and every helper in a test tree."""
        parts = path.split("/")
        return (
            parts[-1] == "conftest.py"
            or not _TEST_DIRECTORIES.isdisjoint(parts[:-1])
            or ("testing" in parts[:-1] and any(is_below(path, d) for d in self._testing))
            or self.is_test_module(path)
        )

    def _testing_directories(self, files: Iterable[str]) -> set[str]:
        # `pkg/testing/` is public API as often as it is a test tree: its own files decide.
        return {
            path[: path.index("testing/") + len("testing")]
            for path in files
            if "/testing/" in f"/{path}"
            and (path.endswith("/conftest.py") or self.is_test_module(path))
        }

    def conftests(self, path: str) -> list[str]:
        """Paths of the conftest.py files that pytest loads before `path`, outermost first."""
        directory, found = parent(path), list[str]()
        while True:
            if directory in self._conftests:
                found.append(f"{directory}/conftest.py" if directory else "conftest.py")
            if not directory:
                break
            directory = parent(directory)
        return [conftest for conftest in reversed(found) if conftest != path]

    def places(self, importer: str, name: str) -> tuple[Place, ...]:
        """Modules that the top-level `name` may mean in the file `importer`, best first.

        `importer` is "" for an importer outside this tree: only what gets installed counts.
        """
        directory = parent(importer)
        loose = not importer or self.is_loose(importer)
        memo = (directory if importer else "\0", loose, name)
        found = self._places.get(memo)
        if found is None:
            found = self._find_places(importer, directory, loose, name)
            self._places[memo] = found
        return found

    def is_loose(self, path: str) -> bool:
        """True for tests and scripts: files that run where they lie, beside the root."""
        return self.kind(parent(path)) != "package" or self.is_test(path)

    def _find_places(
        self, importer: str, directory: str, loose: bool, name: str
    ) -> tuple[Place, ...]:
        roots = list(self._tops.get(name, ()))
        if importer and self.kind(directory) == "package" and self._at(directory, name):
            roots.append(directory)  # a script inside a package, run by its path
        if not roots:
            return ()
        reached = self._reached(directory, loose) if importer else {}
        ranked: list[tuple[tuple[bool, bool, int, str], Place]] = []
        for root in roots:
            key = f"{root}/{name}" if root else name
            rank = reached.get(root)
            standing = self._standing(directory, root, name, rank)
            if standing is Standing.UNRELATED and importer and is_below(directory, root):
                standing = Standing.NEAR
            if self.kind(root) == "package" or _is_standard(name):
                # Beside a script inside a package, or with a name of the standard library.
                standing = Standing.UNRELATED
            certain = standing is Standing.CERTAIN
            order = rank if rank is not None else (100 if certain else 200 - len(root))
            namespace = self.kind(key) == "namespace"
            if namespace and name not in _LOOSE and self._has_package(roots, name):
                standing = Standing.UNRELATED  # a regular package anywhere on the path wins
            unrelated = standing is Standing.UNRELATED
            ranked.append(((unrelated, namespace, order, root), Place(key, standing)))
        ranked.sort()
        return tuple(place for _, place in ranked)

    def _has_package(self, roots: Iterable[str], name: str) -> bool:
        return any(self.kind(f"{root}/{name}" if root else name) == "package" for root in roots)

    def _reached(self, directory: str, loose: bool) -> dict[str, int]:
        """Roots that are on `sys.path` when a file of `directory` runs, with their order."""
        nested = [path for owner, path in self._nested_pythonpath if is_below(directory, owner)]
        roots = [self.home(directory), *nested, *self._pythonpath, *self._roots]
        above = directory
        while True:
            if above in self._conftests:
                roots.append(self.home(above))
            if not above:
                break
            above = parent(above)
        if loose:
            roots.append("")
        order: dict[str, int] = {}
        for root in roots:
            order.setdefault(root, len(order))
        return order

    def _standing(self, directory: str, root: str, name: str, rank: int | None) -> Standing:
        key = f"{root}/{name}" if root else name
        if self._is_installed(root, name, key):
            return Standing.CERTAIN
        if rank is None:
            return Standing.UNRELATED
        if name in _TEST_DIRECTORIES or (
            root == directory and rank == 0 and self.kind(key) != "namespace"
        ):
            return Standing.CERTAIN
        return Standing.REACHED

    def _is_installed(self, root: str, name: str, key: str) -> bool:
        if self._roots:
            return root in self._roots
        if name in _LOOSE or name.startswith("test_") or self.kind(key) == "namespace":
            return False
        if self.name(key) != name:
            return False  # a package in a namespace package is known by both names together
        parts = root.split("/") if root else []
        if self.kind(key) != "package":
            return not parts or parts[-1] in _SOURCE_DIRECTORIES
        return _LOOSE.isdisjoint(parts)

    def _at(self, directory: str, name: str) -> bool:
        return (f"{directory}/{name}" if directory else name) in self._nodes

    def holds_packages(self, key: str) -> bool:
        """True for a directory with a regular package directly in it."""
        return any(self.kind(f"{key}/{name}") == "package" for name in self.children(key))


def _stray_packages(tree: Tree, nodes: Mapping[str, tuple[ModuleKind, str]]) -> Iterable[str]:
    """Directories such as `src` with an `__init__.py`, of which nobody imports `src` and somebody
    a package below it by its own name: that is where the import root is."""
    for directory in _SOURCE_DIRECTORIES if tree.digest is None else ():
        if nodes.get(directory, ("", ""))[0] != "package":
            continue
        below = {
            key.rpartition("/")[2]
            for key, (kind, _) in nodes.items()
            if kind == "package" and parent(key) == directory
        }
        below -= {name for name in below if name in nodes}
        imported = {
            imp.module.partition(".")[0]
            for facts in (tree.files.values() if below else ())
            if isinstance(facts, ModuleFacts)
            for imp in facts.imports
            if not imp.level
        }
        if directory not in imported and not below.isdisjoint(imported):
            yield directory


def _is_standard(name: str) -> bool:
    return name in sys.stdlib_module_names and name not in _TEST_DIRECTORIES


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def is_conftest(path: str) -> bool:
    return path.rpartition("/")[2] == "conftest.py"


def is_below(path: str, directory: str) -> bool:
    """True for `directory` itself and everything under it; "" is the root."""
    return not directory or path == directory or path.startswith(f"{directory}/")


def key_of(path: str) -> str:
    """The module key of a file: `a/b.py` -> `a/b`, `a/__init__.py` -> `a`."""
    key = path.rpartition(".")[0]
    if key == "__init__":
        return ""
    return key.removesuffix("/__init__")


def _nodes(files: Iterable[str], compiled: Iterable[str]) -> dict[str, tuple[ModuleKind, str]]:
    """Every module key with its kind and file. Python's order: package, module, namespace."""
    order: dict[ModuleKind, int] = {
        "package": 4,
        "module": 3,
        "compiled": 2,
        "stub": 1,
        "namespace": 0,
    }
    nodes: dict[str, tuple[ModuleKind, str]] = {}

    def add(key: str, kind: ModuleKind, path: str) -> None:
        old = nodes.get(key)
        if old is None or order[kind] > order[old[0]]:
            nodes[key] = (kind, old[1] if old and kind == "compiled" and old[0] == "stub" else path)
        elif kind == "stub" and old[0] == "compiled" and not old[1]:
            nodes[key] = ("compiled", path)

    directories: set[str] = {""}
    for path in files:
        key = key_of(path)
        is_package = path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")
        if path.endswith(".pyi"):
            add(key, "stub", path)
        else:
            add(key, "package" if is_package else "module", path)
        directories.add(parent(path))
    for key in compiled:
        add(key.removesuffix("/__init__"), "compiled", "")
        directories.add(parent(key))
    for directory in directories:
        while directory:
            add(directory, "namespace", "")
            directory = parent(directory)
    nodes.setdefault("", ("namespace", ""))
    return nodes
