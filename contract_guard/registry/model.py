"""Values that enter and leave the registry."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from contract_guard.facts.model import ModuleFacts, Span, Unreadable


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Every Python file of one place at one moment, with what is known of its layout.

    Paths are relative to the tree's root, with forward slashes. `files` holds .py and .pyi.
    `compiled` are paths without suffix of modules that have no Python source (.so, .pyd, .pyx,
    .rs crates are in `hints`). `hints` are names that build files mention as generated, vendored
    or compiled (from setup.py, CMakeLists.txt, Cargo.toml, pyproject.toml, .gitignore, ...).
    `roots` are import roots from the configuration, () to infer them. `test_patterns` are
    pytest's `python_files`. `pythonpath` are pytest's `pythonpath` entries. `origin` is "" for
    the project itself, else the `--against` text (`vllm==0.33.0`).
    """

    files: Mapping[str, ModuleFacts | Unreadable]
    compiled: frozenset[str] = frozenset()
    hints: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    test_patterns: tuple[str, ...] = ("test_*.py", "*_test.py")
    dynamic_names: tuple[str, ...] = ()
    origin: str = ""


class Producer(msgspec.Struct, frozen=True):
    """The definition that a symbol (`package.module:NAME`) leads to, after all re-exports."""

    symbol: str
    path: str
    span: Span
    kind: str
    origin: str


class Resolution(msgspec.Struct, frozen=True):
    """What is known of a name.

    `missing`: the `symbol` whose last part does not exist. `reason` explains unknown (one of a
    short fixed list, counted in the summary) and, for missing, says how far the path was known.
    `via` are the modules that the name came through. `producer` is set only where one
    definition is certain.
    """

    status: Literal["exists", "missing", "unknown"]
    symbol: str
    reason: str = ""
    producer: Producer | None = None
    via: tuple[str, ...] = ()
    missing_module: bool = False


ChangeKind = Literal[
    "removed",
    "added",
    "renamed",
    "moved",
    "value-changed",
    "rule-changed",
    "signature-changed",
    "default-changed",
    "kind-changed",
    "visibility-changed",
]


class Place(msgspec.Struct, frozen=True):
    """Where a symbol stands at one revision; `value` is Python literal text or None."""

    path: str
    line: int
    value: str | None


class Consumer(msgspec.Struct, frozen=True, kw_only=True):
    """A place that names a changed symbol, in the form of `diff --format json`."""

    path: str
    line: int
    form: Literal["import", "attribute", "patch", "assignment", "literal", "fixture", "mirror"]
    test: str | None
    tests_lost: object | None
    impact: str | None
    updated: bool
    origin: Literal["change", "merge"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change to a contract between two registries."""

    symbol: str
    kind: ChangeKind
    old: Place | None
    new: Place | None
    commit: str | None
    consumers: tuple[Consumer, ...]
