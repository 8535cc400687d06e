"""What stands between a place and its running."""

from collections.abc import Callable

import pytest

from contract_guard.facts.model import ModuleFacts

FactsOf = Callable[[str], ModuleFacts]


def guards_of_use(facts: ModuleFacts) -> list[tuple[str, bool]]:
    """Kinds of the guards around the only use, the inner one first."""
    (use,) = facts.uses
    found = []
    index = use.guard
    while index >= 0:
        guard = facts.guards[index]
        found.append((guard.kind, guard.negated))
        index = guard.parent
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if TYPE_CHECKING: m.x", [("type-checking", False)]),
        ("if typing.TYPE_CHECKING: m.x", [("type-checking", False)]),
        ("if not TYPE_CHECKING: m.x", [("type-checking", True)]),
        ("if TYPE_CHECKING: pass\nelse: m.x", [("type-checking", True)]),
        ("if not TYPE_CHECKING: pass\nelse: m.x", [("type-checking", False)]),
        ("if flag: m.x", [("if", False)]),
        ("if not flag: m.x", [("if", True)]),
        ("if a: pass\nelif b: m.x", [("if", False), ("if", True)]),
        ("if sys.version_info >= (3, 12): m.x", [("version", False)]),
        ("if vllm_version_is('0.9'): m.x", [("version", False)]),
        ("if Version(m2.__version__) < y: m.x", [("version", False)]),
        ("if sys.platform == 'win32': m.x", [("platform", False)]),
        ("if os.name == 'nt': m.x", [("platform", False)]),
        ("if platform.system() == 'Linux': m.x", [("platform", False)]),
        ("if mode == 'version': m.x", [("if", False)]),
        ("if hasattr(m, 'x'): m.x", [("hasattr", False)]),
        ("if not hasattr(m, 'x'): pass\nelse: m.x", [("hasattr", False)]),
        ("if 'torch' in sys.modules: m.x", [("hasattr", False)]),
        ("if importlib.util.find_spec('t'): m.x", [("hasattr", False)]),
        ("a = hasattr(m, 'x') and m.x", [("hasattr", False)]),
        ("a = not hasattr(m, 'x') or m.x", [("hasattr", False)]),
        ("a = m.x if hasattr(m, 'x') else 1", [("hasattr", False)]),
        ("a = 1 if hasattr(m, 'x') else m.x", [("hasattr", True)]),
        ("assert hasattr(m, 'x')\nm.x", [("hasattr", False)]),
        ("def f():\n    if not hasattr(m, 'x'): return\n    m.x", [("hasattr", False)]),
        ("def f():\n    if flag: return\n    m.x", []),
        ("if False: m.x", [("unreachable", False)]),
        ("if True: m.x", []),
        ("if not 0: m.x", []),
        ("if 1: pass\nelse: m.x", [("unreachable", False)]),
        ("raise E\nm.x", [("unreachable", False)]),
        ("for a in b: m.x", [("loop", False)]),
        ("while a: m.x", [("loop", False)]),
        ("for a in b: pass\nelse: m.x", [("loop", True)]),
        ("match a:\n    case 1: m.x", [("match", False)]),
        ("with suppress(AttributeError): m.x", [("suppress", False)]),
        ("with pytest.raises(AttributeError): m.x", [("raises", False)]),
        ("with open(1): m.x", []),
        ("try: m.x\nfinally: pass", []),
        ("try: pass\nexcept E: pass\nelse: m.x", [("try", True)]),
        ("try: pass\nexcept E: m.x", [("except", False)]),
        ("try: m.x\nexcept E: pass", [("try", False)]),
        ("try:\n    def f(): m.x\nexcept E: pass", []),
        ("if TYPE_CHECKING:\n    def f(): m.x", [("type-checking", False)]),
        ("pytest.importorskip('t')\nm.x", [("skip", False)]),
        ("t = pytest.importorskip('t')\nm.x", [("skip", False)]),
        ("pytest.skip('no', allow_module_level=True)\nm.x", [("skip", False)]),
        ("if not gpu: pytest.skip('no')\nm.x", [("skip", False)]),
        ("try: import t\nexcept ImportError: pytest.skip('no')\nm.x", [("skip", False)]),
        (
            "@pytest.mark.skipif(not hasattr(m, 'x'), reason='')\ndef test(): m.x",
            [("hasattr", False)],
        ),
        ("@pytest.mark.skipif(not gpu, reason='')\ndef test(): m.x", []),
        ("@skipUnless(hasattr(k, 'x'), '')\ndef test(): m.x", [("hasattr", False)]),
    ],
)
def test_guards(facts_of: FactsOf, body: str, expected: list[tuple[str, bool]]) -> None:
    source = f"import m\n{body}\n"
    if "hasattr(m" in source:  # the condition itself loads m, but no attribute of it
        assert "m" in facts_of(source).loaded_names
    assert guards_of_use(facts_of(source)) == expected


@pytest.mark.parametrize(
    ("source", "catches"),
    [
        ("try:\n    import m\nexcept ImportError: pass", ("ImportError",)),
        ("try:\n    import m\nexcept (A, b.C): pass\nexcept D: pass", ("A", "b.C", "D")),
        ("try:\n    import m\nexcept: pass", ("BaseException",)),
        ("try:\n    import m\nexcept* ImportError: pass", ("ImportError",)),
        ("with contextlib.suppress(ImportError, A): import m", ("ImportError", "A")),
        ("with pytest.raises((A, B), match='x'): import m", ("A", "B")),
        ("with pytest.raises(expected_exception=A): import m", ("A",)),
        ("with self.assertRaises(A): import m", ("A",)),
    ],
)
def test_caught_names(facts_of: FactsOf, source: str, catches: tuple[str, ...]) -> None:
    facts = facts_of(source)
    (found,) = facts.imports
    assert facts.guards[found.guard].catches == catches


def test_text_is_the_condition_on_one_line(facts_of: FactsOf) -> None:
    facts = facts_of("if not (a and\n        b):\n    import m\n")
    assert facts.guards[facts.imports[0].guard].text == "a and b"


def test_only_guards_that_facts_stand_behind_are_kept(facts_of: FactsOf) -> None:
    assert facts_of("def f(a):\n    if a:\n        return 1\n").guards == ()
