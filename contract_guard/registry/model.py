"""Values that enter and leave the registry."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from contract_guard.facts.model import ModuleFacts, Span, Unreadable
from contract_guard.findings import Impact, TestsLost


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """What all files of a tree say together, so that not every one of them need be opened.

    `imported` are keys of modules that files of the tree import, `stubs` all that they put into
    `sys.modules`. `starring` are the files with a star import, `storing` those that assign to an
    attribute of another module or class, by its name. `mentioning` gives the files in which an
    identifier may occur.
    """

    imported: frozenset[str]
    stubs: frozenset[str]
    starring: tuple[str, ...]
    storing: Mapping[str, tuple[str, ...]]
    mentioning: Callable[[str], Iterable[str]]


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Every Python file of one place at one moment, with what is known of its layout.

    Paths are relative to the tree's root, with forward slashes. `files` holds .py and .pyi.
    `compiled` are paths without suffix of modules that have no Python source (.so, .pyd, .pyx,
    .rs crates are in `hints`). `hints` are names that build files mention as generated, vendored
    or compiled (from setup.py, CMakeLists.txt, Cargo.toml, pyproject.toml, .gitignore, ...).
    `roots` are import roots from the configuration, () to infer them. `test_patterns` are
    pytest's `python_files`. `pythonpath` are pytest's `pythonpath` entries, `nested_pythonpath`
    those that hold below one directory alone, behind it. `origin` is "" for the project itself,
    else the `--against` text (`vllm==0.33.0`), and `distributions` are the versions in it
    (`vllm==0.33.0`). `former` are top-level packages that the project had at an older revision: a
    name below one of them means nothing else. With a `digest`, `files` may open
    each file when it is first asked for.
    """

    files: Mapping[str, ModuleFacts | Unreadable]
    compiled: frozenset[str] = frozenset()
    hints: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    nested_pythonpath: tuple[tuple[str, str], ...] = ()
    test_patterns: tuple[str, ...] = ("test_*.py", "*_test.py")
    dynamic_names: tuple[str, ...] = ()
    origin: str = ""
    distributions: tuple[str, ...] = ()
    digest: Digest | None = None
    former: frozenset[str] = frozenset()


class Producer(msgspec.Struct, frozen=True):
    """The definition that a symbol (`package.module:NAME`) leads to, after all re-exports."""

    symbol: str
    path: str
    span: Span
    kind: str
    origin: str


Reason = Literal[
    # unknown
    "external",  # not a module of the project, nor of anything that it is checked against
    "another-root",  # of that name, but below an import root that the importer may not have
    "outside-root",  # a relative import that leads above the tree
    "compiled",  # a module without Python source
    "generated",  # the build makes, vendors or compiles it
    "unreadable",  # its file has no facts
    "dynamic-module",  # the module writes its own names in ways that cannot be listed
    "module-getattr",  # a module's `__getattr__` may serve it
    "star-import",  # it may come through a star import of something that is not known
    "stub",  # only a `.pyi` file names it
    "stubbed",  # something puts a module of that name into `sys.modules`
    "configured",  # `dynamic-names` of the configuration
    "assigned-elsewhere",  # another module stores that name there
    "submodule-not-imported",  # the file is there, but nothing in the trees imports it
    "broken-import",  # it is bound by an import that fails itself, and is reported there
    "guarded-import",  # it is bound by an import whose failure is caught
    "unknown-base",  # a class has a base that is not known
    "dynamic-class",  # members of a class cannot be listed
    "instance-attribute",  # set on instances, or declared without a value
    "too-deep",  # a chain of more re-exports than anyone writes
    "object",  # an attribute of a value that is neither module nor class
    "not-an-import",  # the object of a patch is no imported name
    # missing
    "no-such-module",
    "no-such-name",
    "no-such-member",
    "type-checking-only",  # bound under `if TYPE_CHECKING:` alone
    "deleted",  # the last thing that the module does with the name is `del`
]
"""Why a name is unknown, or how it is missing. Counted in the summary."""


class Resolution(msgspec.Struct, frozen=True):
    """What is known of a name.

    `symbol` is the name where it was asked for (a re-export keeps the name of the re-exporting
    module), and `producer` the definition behind it, set only where one is certain. `missing`:
    the `symbol` whose last part does not exist; with `missing_module` it is a module
    (`pkg.gone`). `reason` explains unknown and missing. `via` are the modules that the name came
    through. `depth` counts the parts of the chain that were followed: for missing, the missing
    one is `chain[depth]`.
    """

    status: Literal["exists", "missing", "unknown"]
    symbol: str
    reason: Reason | Literal[""] = ""
    producer: Producer | None = None
    via: tuple[str, ...] = ()
    missing_module: bool = False
    depth: int = 0


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
    """Where a symbol stands at one revision; `value` is Python literal text or None.

    For a changed rule `value` is the set of values that it accepts, for a changed signature its
    parameters: `(a, b=1)`.
    """

    path: str
    line: int
    value: str | None = None


ConsumerForm = Literal[
    "import",
    "attribute",
    "call",
    "patch",
    "assignment",
    "literal",
    "fixture",
    "mirror",
    "document",
]


class Consumer(msgspec.Struct, frozen=True, kw_only=True):
    """A place that names a changed symbol, in the form of `diff --format json`.

    `line` is at the newer revision; where the consumer is `updated` and no longer names the
    symbol, at the older one. `impact` is None where the change costs the place nothing. With
    origin "merge" only the merge of both revisions breaks it.
    """

    path: str
    line: int
    form: ConsumerForm
    test: str | None = None
    tests_lost: TestsLost | None = None
    impact: Impact | None = None
    updated: bool = False
    origin: Literal["change", "merge"] = "change"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change to a contract between two registries.

    `symbol` is the name at the older revision, except for "added". `replacement` is the symbol
    that took its place, where one is known. `commit` names the commit that made the change,
    where it was looked for.
    """

    symbol: str
    kind: ChangeKind
    old: Place | None
    new: Place | None
    replacement: str | None = None
    commit: str | None = None
    consumers: tuple[Consumer, ...] = ()
