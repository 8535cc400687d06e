"""`ModuleFacts`: everything that later stages may ask about one Python source file.

Facts are pure: they hold no module name, no path and nothing resolved against other files, so
that one value serves every place and every revision in which the same bytes stand. Places refer
to one another by index: `scope` into `ModuleFacts.scopes`, `guard` into `ModuleFacts.guards`,
`imported` into `ModuleFacts.imports`. All of them may be imported from here.

Bump `SCHEMA` whenever the same bytes would give other facts than before: it is part of the
cache key.
"""

from typing import Literal

import msgspec

from contract_guard.facts.fact import Fact, Span
from contract_guard.facts.fragment_model import Echo as Echo
from contract_guard.facts.fragment_model import FileFragments
from contract_guard.facts.fragment_model import FunctionFragments as FunctionFragments
from contract_guard.facts.fragment_model import Input as Input
from contract_guard.facts.pytest_model import Fixture as Fixture
from contract_guard.facts.pytest_model import PytestFacts
from contract_guard.facts.pytest_model import Test as Test

SCHEMA = 17

ScopeKind = Literal["module", "class", "function", "lambda", "comprehension", "type-parameters"]


class Scope(Fact, frozen=True):
    """A lexical scope. Index 0 is the module; `parent` of the module is -1.

    `qualname` is as in `__qualname__` without `<locals>`: `TestA.test_b`, `outer.inner`.
    """

    kind: ScopeKind
    qualname: str
    parent: int
    span: Span


GuardKind = Literal[
    "type-checking",  # body of `if TYPE_CHECKING:`
    "if",  # branch of another condition
    "version",  # branch of a condition on a version (`sys.version_info`, `version_is("1.2")`)
    "platform",  # branch of a condition on sys.platform, os.name, platform.*
    "try",  # body of a try whose handlers catch `catches`
    "except",  # a handler's body; `catches` is what it catches
    "suppress",  # body of `with contextlib.suppress(...)`; `catches` is what it suppresses
    "raises",  # body of `with pytest.raises(...)`; `catches` is what is expected
    "hasattr",  # branch of a condition that tests hasattr/getattr/find_spec/`in sys.modules`
    "loop",  # body of for/while: runs zero or more times
    "match",  # a case's body
    "skip",  # behind `pytest.importorskip(...)`, or a skip under `text`, in the same block
    "unreachable",  # behind an unconditional raise/return or `if False:`
]


class Guard(Fact, frozen=True):
    """Why a place may not run, or why its failure is not fatal; `parent` is the outer one, or -1.

    `text` is the condition's source without a leading `not`, whitespace folded, at most 200
    characters. `negated` marks the side that runs where it is false: the `else` side, or the body
    of `if not ...`; for "try" it marks the `else` clause, which no handler protects.
    `catches` holds exception names as written; a bare `except:` is `("BaseException",)`.
    """

    kind: GuardKind
    parent: int
    text: str
    negated: bool = False
    catches: tuple[str, ...] = ()


BindingKind = Literal[
    "function",
    "class",
    "assign",  # Name = value, including annotated, augmented, unpacked, walrus
    "annotation",  # `name: T` without a value: binds nothing at run time
    "import",  # by an import statement; `imported` tells which
    "loop",
    "with",
    "except",
    "match",
    "del",
    "type-alias",
]


class Parameter(Fact, frozen=True):
    name: str
    kind: Literal["positional-only", "positional", "var-positional", "keyword-only", "var-keyword"]
    default: str | None  # source text, None where required; at most 200 characters


class Signature(Fact, frozen=True):
    parameters: tuple[Parameter, ...]
    is_async: bool = False


class Binding(Fact, frozen=True):
    """One statement that binds `name` in the module, or in a class body.

    `value` is source text of the bound expression if it is short and in the grammar that
    `facts.fold` can evaluate (literals, names, attributes, arithmetic, subscripts, containers,
    `range`, ...), else None; unpacking gives `(text)[i]`. `decorators` are dotted names, or ""
    where a decorator is not a (called) dotted name. `body` is a hash of a function's or class's
    body without docstring, comments, layout and its own name, 0 for other kinds: equal body =
    same code.
    """

    name: str
    kind: BindingKind
    span: Span  # of the name where it has its own range, else of the statement
    statement: Span
    guard: int
    value: str | None = None
    imported: int = -1
    signature: Signature | None = None
    decorators: tuple[str, ...] = ()
    body: int = 0
    via_global: bool = False  # bound inside a function through `global name`


class Field(Fact, frozen=True):
    """A field of a data class or a named tuple. `kind` says how a call gives it to the constructor,
    "none" where it does not; it hides one of that name in a base. `default` as in `Parameter`."""

    name: str
    kind: Literal["positional", "keyword-only", "none"]
    default: str | None


class ClassFacts(Fact, frozen=True):
    """A class anywhere in the module; `scope` is its own scope.

    `bases` are dotted names, or "" where a base is another expression; `metaclass` likewise.
    `members` are bound in the body; `self_attributes` are names stored on the first parameter
    of a method. `dynamic` is true where attributes of the class itself cannot be listed:
    `setattr`, `vars()`/`locals()` writes, a call at module level that is given the class, a loop
    over classes. (`__getattr__` serves instances alone.)
    `unread_decorators` are those of which the file does not tell whether they keep the members.
    `made_by` are the dotted names of what is called for values in the body; `writes_owner` is true
    where its `__set_name__` writes to the class that holds an instance of it.
    `fields` are the annotations in the body from which Python writes a constructor (data classes,
    named tuples), None where it writes none, or they cannot be told.
    """

    name: str
    scope: int
    span: Span
    guard: int
    bases: tuple[str, ...]
    metaclass: str | None
    decorators: tuple[str, ...]
    members: tuple[Binding, ...]
    self_attributes: tuple[str, ...]
    dynamic: bool
    unread_decorators: tuple[str, ...] = ()
    made_by: tuple[str, ...] = ()
    writes_owner: bool = False
    fields: tuple[Field, ...] | None = None


class ClassDecorator(Fact, frozen=True):
    """A function of the module that gives back the class that it is given, after it has set
    `attributes` of it and no others."""

    name: str
    attributes: tuple[str, ...]


ImportForm = Literal["import", "from", "import_module", "importorskip"]


class Import(Fact, frozen=True):
    """One imported name: `import module [as bound]`, `from module import name [as bound]`.

    For `import a.b` without `as`, `bound` is "a" and means module `a`; `renamed` is true where
    `as` was written, so that `import a.b as a` is told apart. `name` is None for form "import"
    and for calls that give a module, "*" for a star. `level` counts leading dots. `bound` is ""
    where nothing is bound (a bare `import_module("m")`). `span` is the alias alone; `statement`
    the whole statement.
    """

    form: ImportForm
    module: str
    level: int
    name: str | None
    bound: str
    span: Span
    statement: Span
    scope: int
    guard: int
    renamed: bool = False


UseContext = Literal["load", "store", "del"]


class Use(Fact, frozen=True):
    """An attribute chain whose root is a name bound by an import: `bound.chain[0].chain[1]`.

    Given only where Python's scope rules lead the root to a scope in which that name is bound
    by imports alone; `imported` lists every import that may have bound it (several in the
    branches of a try). The longest chain is given once, not each prefix of it. `called` is true
    where the whole chain is called. `span` runs from the root to the end of the chain.
    `statement` is the smallest enclosing statement (for a compound one: its header).
    `ends` are the end columns of the root and of each chain part, with the line each ends on.
    """

    imported: tuple[int, ...]
    chain: tuple[str, ...]
    context: UseContext
    span: Span
    ends: tuple[tuple[int, int], ...]
    statement: Span
    scope: int
    guard: int
    called: bool = False


class Load(Fact, frozen=True):
    """A load of a name that an import bound (`from m import N` ... `N`), without an attribute.

    One per (import, scope): what matters is that it is used, and where first.
    """

    imported: tuple[int, ...]
    span: Span
    scope: int
    guard: int


class Unbound(Fact, frozen=True):
    """A load of a name that no scope of the file binds, and that is no builtin: NameError."""

    name: str
    span: Span
    scope: int
    guard: int


PatchForm = Literal[
    "mock.patch",
    "mock.patch.object",
    "mock.patch.multiple",
    "mock.patch.dict",
    "monkeypatch.setattr",
    "monkeypatch.delattr",
    "setattr",
    "delattr",
]


class PatchTarget(Fact, frozen=True):
    """A target of the patch family: a dotted string, or an object and an attribute name.

    `target` is the dotted string ("pkg.mod.name"), or the dotted source of the object whose root
    `imported` tells (empty if it is no import). `attribute` is the second argument, None for the
    string form; `patch.multiple` gives one fact per keyword. Strings that fold from f-strings,
    concatenations and module constants are folded; what does not fold is left out and counted
    in `ModuleFacts.unfolded_targets`. `span` is the target argument (with the string form: the
    string), `call` the whole call.
    """

    form: PatchForm
    target: str
    attribute: str | None
    imported: tuple[int, ...]
    create: bool
    raising: bool
    new: str | None  # source text of the replacement, at most 200 characters
    span: Span
    call: Span
    statement: Span
    scope: int
    guard: int
    decorator: bool = False


class Argument(Fact, frozen=True):
    """An argument of a call: `position` from 0, or -1 with `keyword`. `value` is source text."""

    position: int
    keyword: str | None
    value: str


class Call(Fact, frozen=True):
    """A call that passes constants: who binds which parameter to what.

    `function` is the dotted source of the callee. `arguments` are those that are a name in
    capitals (or end in one, `Color.RED`) which the module or an import binds, or an int that is
    distinctive as in `LiteralUse`; calls without any are left out.
    """

    function: str
    arguments: tuple[Argument, ...]
    span: Span
    scope: int


PredicateOp = Literal["==", "!=", "<", "<=", "in", "not in", "isin", "and", "or", "not"]


class Predicate(Fact, frozen=True):
    """A condition over a subject and module-level names: `(ids >= LO) & (ids < LO + 5)`.

    Also over parameters of the function around (`ids == pad_id`), so that a rule can be followed
    through calls.

    A tree in prefix form: `op` with `operands`, where an operand is another Predicate or source
    text. `>` and `>=` are written with the operands swapped; `&`, `torch.logical_and`, `and` all
    become "and". `names` are the dotted names, other than the subject, that occur. `subject` is
    source text of the tested expression, None where the parts test different ones.
    """

    op: PredicateOp
    operands: tuple["Predicate | str", ...]
    subject: str | None
    names: tuple[str, ...]
    span: Span
    statement: Span
    scope: int
    guard: int


class LiteralUse(Fact, frozen=True):
    """A distinctive literal inside a function body or a module constant: an int of at least
    four digits that is no round number, or a string of at least 12 characters that is no prose
    and no dotted name.
    `value` is Python literal text."""

    value: str
    span: Span
    scope: int


class ModuleFacts(Fact, frozen=True):
    """All facts of one file. See the field types for what each entry means.

    `exports` is `__all__` where it folds, None where there is none; `exports_exact` is false
    where part of it does not fold. `getattr_names` are the names that a module `__getattr__`
    visibly serves (tables, comparisons); `getattr_open` is true where it may serve others.
    `dynamic` names a reason for which the module's names cannot be listed at all (its module
    object is replaced, names are written through `globals()` or `exec`), else None.
    `added_names` are written by `globals()["x"] =`, `setattr(sys.modules[__name__], "x", ...)`.
    `submodule_stubs` are modules that this file puts into `sys.modules` itself; one that begins
    with "." is below this module, "*" stands for names that cannot be told.
    `loaded_names` are all names and attribute names that are loaded or named in strings of the
    form of an identifier: the cheap test for "nobody reads this name". `stored_attributes` are the
    attributes that are set on anything but `self`: any class of the module may be what they are
    set on.
    """

    lines: int
    scopes: tuple[Scope, ...]
    guards: tuple[Guard, ...]
    bindings: tuple[Binding, ...]
    classes: tuple[ClassFacts, ...]
    imports: tuple[Import, ...]
    uses: tuple[Use, ...]
    loads: tuple[Load, ...]
    patches: tuple[PatchTarget, ...]
    calls: tuple[Call, ...]
    predicates: tuple[Predicate, ...]
    literals: tuple[LiteralUse, ...]
    pytest: PytestFacts
    exports: tuple[str, ...] | None
    exports_exact: bool
    getattr_names: tuple[str, ...]
    getattr_open: bool
    dynamic: str | None
    added_names: tuple[str, ...]
    submodule_stubs: tuple[str, ...]
    loaded_names: frozenset[str]
    unfolded_targets: int = 0
    has_suppressions: bool = False  # the bytes `contract-guard:` occur
    fragments: FileFragments = FileFragments()
    unbound: tuple[Unbound, ...] = ()
    class_decorators: tuple[ClassDecorator, ...] = ()
    stored_attributes: frozenset[str] = frozenset()


class Unreadable(msgspec.Struct, frozen=True):
    """Why a file has no facts. `line` and `column` from 1, 0 where the reason has no place."""

    reason: Literal[
        "syntax",
        "newer-python",
        "python-2",
        "encoding",
        "nul-bytes",
        "too-deep",
        "too-large",
        "unreadable",
        "worker-died",
        "timeout",
    ]
    detail: str
    line: int = 0
    column: int = 0
