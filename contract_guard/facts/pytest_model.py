"""The facts that pytest's default rules give of a file."""

from contract_guard.facts.fact import Fact, Span


class Test(Fact, frozen=True):
    """A test function that pytest's default rules would collect from this file.

    `qualname` is `TestA.test_b`. `cases` is the product of the literal parametrizations of
    function and classes, a lower bound if `exact` is false. `arguments` are requested fixtures,
    those last that its body looks up by a literal name. `ids` are pytest's bracket ids in order
    where they are certain, else (). `is_named` tells that the file names the test outside of the
    test itself, and so may call it.
    """

    __test__ = False

    qualname: str
    scope: int
    span: Span
    cases: int
    exact: bool
    arguments: tuple[str, ...]
    marks: tuple[str, ...]
    ids: tuple[str, ...] = ()
    is_named: bool = False


class Fixture(Fact, frozen=True):
    """A fixture: `name` as requested; `class_name` where it is a method.

    `cases` is the number of its literal `params`, a lower bound if `exact` is false.
    """

    name: str
    qualname: str
    span: Span
    guard: int
    arguments: tuple[str, ...]
    autouse: bool
    class_name: str | None = None
    cases: int = 1
    exact: bool = True


class PytestFacts(Fact, frozen=True):
    tests: tuple[Test, ...] = ()
    fixtures: tuple[Fixture, ...] = ()
    plugins: tuple[str, ...] = ()  # `pytest_plugins`, where literal
    hooks: tuple[str, ...] = ()  # `pytest_*` functions of the module
    module_skip: str | None = None  # text of an unconditional module-level skip
    marks: tuple[str, ...] = ()  # `pytestmark`
