"""What the rules on mirrors ask of a file: what functions compute, what tests write down."""

from contract_guard.facts.fact import Fact


class FunctionFragments(Fact, frozen=True):
    """What one function or method computes, as a bag of short texts (see `mirrors.fragments`);
    nested functions have entries of their own.

    `fragments` are sorted, each once. `calls` are the last parts of all names that it calls.
    `asserts` is true where it checks something. `kernel` marks functions that are compiled for a
    device: a reference in Python is no copy of one. Lines from 1, `end` included.
    """

    qualname: str
    start: int
    end: int
    fragments: tuple[str, ...]
    calls: frozenset[str]
    asserts: bool
    kernel: bool


class Echo(Fact, frozen=True):
    """An assertion of the test `qualname` whose sides come from one call, written once or twice.

    `function` is the dotted callee, a local object's class in place of its name. `evaluated` are
    the lines of the call, one where both sides are the same evaluation. Lines from 1, `end`
    included. `name` is the name that is given as both sides, where it tells that one was to be
    something else (`expected`); "" where there is none, else `function` may be "".
    """

    qualname: str
    line: int
    end: int
    function: str
    evaluated: tuple[int, ...]
    name: str = ""


class Input(Fact, frozen=True):
    """Values that a test file writes down itself, outside of comparisons: a list of them, or one
    expression around a constant (`PAD + 1`, `range(LOW, HIGH)` for every function that counts).

    `texts` are the source texts of the elements of a list, or of the one expression; each list
    has a name in capitals or a distinctive int in it. `qualname` is the function around, "" for
    the module. Lines and columns from 1, columns in bytes, `end_line` included, `end_column` not.
    """

    qualname: str
    texts: tuple[str, ...]
    is_list: bool
    line: int
    column: int
    end_line: int
    end_column: int


class FileFragments(Fact, frozen=True):
    """All functions of a file, its imports as (module with leading dots, name or ""), and the
    strings that are dotted names, such as targets of patches. `called` are the functions that it
    calls through an import, dotted as their modules have them; `renamed` pairs the names that it
    imports as others with what they stand for, dotted. Modules keep their leading dots. Of test
    files also their echoes and the values that they write down."""

    functions: tuple[FunctionFragments, ...] = ()
    imports: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = ()
    echoes: tuple[Echo, ...] = ()
    inputs: tuple[Input, ...] = ()
    called: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
