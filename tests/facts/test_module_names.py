"""`__all__`, module `__getattr__`, lazy modules, and names written by other means."""

from collections.abc import Callable

import pytest

from contract_guard.facts.model import ModuleFacts

FactsOf = Callable[[str], ModuleFacts]


@pytest.mark.parametrize(
    ("source", "exports", "exact"),
    [
        ("x = 1", None, True),
        ("__all__ = ['a', 'b']", ("a", "b"), True),
        ("__all__ = 'a', 'b'", ("a", "b"), True),
        ("__all__: list[str] = ['a']", ("a",), True),
        ("__all__ = []", (), True),
        ("__all__ = ['a']\n__all__ += ['b']", ("a", "b"), True),
        ("__all__ = ['a']\n__all__.extend(('b', 'c'))", ("a", "b", "c"), True),
        ("__all__ = ['a']\n__all__.append('b')\n__all__.remove('a')", ("b",), True),
        ("__all__ = ['a']\n__all__ = __all__ + ['b']", ("a", "b"), True),
        ("__all__ = sorted(['b'] + list(('a',)))", ("b", "a"), True),
        ("NAMES = ['a']\n__all__ = [*NAMES, 'b']", ("a", "b"), True),
        ("__all__ = [A.__name__, 'b']", ("b",), False),
        ("__all__ = ['a'] + other.__all__", ("a",), False),
        ("__all__ = ['a', *other.__all__]", ("a",), False),
        ("__all__ = [n for n in dir() if n[0] != '_']", (), False),
        ("from m import __all__", (), False),
        ("__all__ = ['a']\nif x:\n    __all__ += ['b']\n    __all__.remove('a')", ("a", "b"), True),
        ("__all__ = ['old']\n__all__ = ['new']", ("new",), True),
        ("def f():\n    __all__ = ['a']", None, True),
    ],
)
def test_exports(
    facts_of: FactsOf, source: str, exports: tuple[str, ...] | None, exact: bool
) -> None:
    facts = facts_of(source)
    assert (facts.exports, facts.exports_exact) == (exports, exact)


RAISE = "raise AttributeError(name)"


@pytest.mark.parametrize(
    ("body", "names", "is_open"),
    [
        (f"if name == 'a': return 1\n{RAISE}", ("a",), False),
        (f"if 'a' == name or name == 'b': return 1\n{RAISE}", ("a", "b"), False),
        (f"if name in ('a', 'b'): return load(name)\n{RAISE}", ("a", "b"), False),
        (
            f"if name in TABLE: return getattr(import_module(TABLE[name]), name)\n{RAISE}",
            None,
            False,
        ),
        (f"if name not in TABLE: {RAISE}\nreturn getattr(other, name)", None, False),
        ("return TABLE[name]", None, False),
        (f"try: target = TABLE[name]\nexcept KeyError: {RAISE}\nreturn load(target)", None, False),
        (f"target = TABLE.get(name)\nif target is None: {RAISE}\nreturn target", None, False),
        (f"if (t := TABLE.get(name)) is not None: return t\n{RAISE}", None, False),
        (f"local = {{'a': 1}}\nif name in local: return local[name]\n{RAISE}", ("a",), False),
        (f"for m, n in NESTED.items():\n    if name in n: return m\n{RAISE}", ("p", "q"), False),
        (f"match name:\n    case 'a' | 'b': return 1\n    case _: {RAISE}", ("a", "b"), False),
        (f"if name == 'gone': {RAISE}\n{RAISE}", (), False),
        (f"if name in globals(): return globals()[name]\n{RAISE}", (), False),
        ("return getattr(other, name)", (), True),
        ("return import_module('.' + name, __name__)", (), True),
        (f"if name.startswith('x'): return 1\n{RAISE}", (), True),
        (f"if name in compute(): return 1\n{RAISE}", (), True),
        ("if name == 'a': return 1\nreturn getattr(other, name)", ("a",), True),
        (f"if name.startswith('_'): {RAISE}\nif name == 'a': return 1\n{RAISE}", ("a",), False),
    ],
)
def test_module_getattr(
    facts_of: FactsOf, body: str, names: tuple[str, ...] | None, is_open: bool
) -> None:
    lines = "\n".join("    " + line for line in body.split("\n"))
    facts = facts_of(
        "TABLE = {'x': 'm', **MORE}\nMORE = dict(y='n')\nTABLE['z'] = 'k'\n"
        "NESTED = {'m': ['p', 'q']}\n"
        f"def __getattr__(name):\n{lines}\n"
    )
    assert facts.getattr_open is is_open
    assert set(facts.getattr_names) == set(("x", "y", "z") if names is None else names)
    assert facts.dynamic is None


@pytest.mark.parametrize(
    ("source", "names", "is_open"),
    [
        ("from m import __getattr__", (), True),
        ("__getattr__ = make()", (), True),
        ("__getattr__ = lambda name: 1", (), True),
        (
            "if TYPE_CHECKING:\n    x = 1\nelse:\n"
            "    def __getattr__(name):\n        if name == 'x': return 1\n        raise A",
            ("x",),
            False,
        ),
        (
            "def __getattr__(name):\n    if name == 'x': return 1\n    raise A\n"
            "__getattr__ = functools.cache(__getattr__)",
            ("x",),
            False,
        ),
        (
            "__getattr__, __dir__, __all__ = lazy.attach(__name__, submodules=['s'],"
            " submod_attrs={'t': ['a', 'b']})",
            ("s", "a", "b"),
            False,
        ),
        ("__getattr__, *_ = lazy.attach_stub(__name__, __file__)", (), True),
        ("class A:\n    def __getattr__(self, name): return 1", (), False),
        (
            "T = {m: n for m, n in {'k': ['a', 'b']}.items()}\n"
            "U = {a: m for m, names in {'k': ['a', 'b']}.items() for a in names}\n"
            "def __getattr__(name):\n    if name in U: return 1\n    raise A",
            ("a", "b"),
            False,
        ),
    ],
)
def test_other_forms_of_getattr(
    facts_of: FactsOf, source: str, names: tuple[str, ...], is_open: bool
) -> None:
    facts = facts_of(source)
    assert (facts.getattr_names, facts.getattr_open) == (names, is_open)


def test_a_lazy_module_is_read_through_its_table(facts_of: FactsOf) -> None:
    facts = facts_of("""
        import sys
        _import_structure = {"models": ["A"], "utils": []}
        try:
            available()
        except OptionalDependencyNotAvailable:
            pass
        else:
            _import_structure["extra"] = ["B", "C"]
            _import_structure["models"].extend(["D"])
            _import_structure["utils"].append("E")
        if TYPE_CHECKING:
            from .models import A
        else:
            sys.modules[__name__] = _LazyModule(
                __name__, globals()["__file__"], _import_structure, extra_objects={"v": 1}
            )
    """)
    assert set(facts.getattr_names) == {"models", "utils", "extra", *"ABCDEv"}
    assert not facts.getattr_open
    assert facts.dynamic is None


@pytest.mark.parametrize(
    ("source", "is_open", "dynamic"),
    [
        ("sys.modules[__name__] = _LazyModule(__name__, f, structure(f))", True, None),
        ("sys.modules[__name__] = Wrapper()", False, "the module object is replaced"),
        ("sys.modules[__name__].__class__ = M", False, "the module's class is replaced"),
        (
            "this = sys.modules[__name__]\nthis.__class__ = M",
            False,
            "the module's class is replaced",
        ),
        ("globals()[name] = 1", False, "names are written through globals()"),
        ("globals().update(table())", False, "names are written through globals()"),
        ("vars()[name] = 1", False, "names are written through vars()"),
        ("setattr(sys.modules[__name__], name, 1)", False, "names are written through setattr"),
        ("exec(code)", False, "names are written through exec"),
        ("def f():\n    exec(code, globals())", False, "names are written through exec"),
        ("def f():\n    exec(code)", False, None),
        ("exec(code, scope)", False, None),
        ("def f(globals):\n    locals()[name] = 1", False, None),
        ("def __getattr__(name):\n    globals()[name] = 1\n    raise A", False, None),
    ],
)
def test_modules_whose_names_cannot_be_listed(
    facts_of: FactsOf, source: str, is_open: bool, dynamic: str | None
) -> None:
    facts = facts_of(f"import sys\n{source}\n")
    assert (facts.getattr_open, facts.dynamic) == (is_open, dynamic)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("globals()['x'] = 1", ("x",)),
        ("globals().update(x=1, y=2)", ("x", "y")),
        ("globals().update({'x': 1})", ("x",)),
        ("globals().setdefault('x', 1)", ("x",)),
        ("setattr(sys.modules[__name__], 'x', 1)", ("x",)),
        ("sys.modules[__name__].x = 1", ("x",)),
        ("me = sys.modules[__name__]\nme.x = 1\nsetattr(me, 'y', 1)", ("x", "y")),
        ("sys.modules[__name__].__dict__['x'] = 1", ("x",)),
        ("for n in ('x', 'y'): globals()[n] = 1", ("x", "y")),
        ("for n in 'x', 'y': globals()[f'get_{n}'] = 1", ()),
        ("P = 'p'\nglobals()[P + '_x'] = 1", ("p_x",)),
    ],
)
def test_added_names(facts_of: FactsOf, source: str, names: tuple[str, ...]) -> None:
    facts = facts_of(f"import sys\n{source}\n")
    assert set(facts.added_names) == set(names)
    assert (facts.dynamic is None) is bool(names)


@pytest.mark.parametrize(
    ("source", "stubs"),
    [
        ("sys.modules['a.b'] = m", ("a.b",)),
        ("sys.modules.setdefault('a', m)", ("a",)),
        ("sys.modules.update({'a': m, 'b': m})", ("a", "b")),
        ("monkeypatch.setitem(sys.modules, 'a', m)", ("a",)),
        ("patch.dict(sys.modules, {'a': m})", ("a",)),
        ("mock.patch.dict('sys.modules', {'a': m})", ("a",)),
        ("NAME = 'a'\nsys.modules[NAME + '.b'] = m", ("a.b",)),
        ("sys.modules[__name__ + '.sub'] = m", (".sub",)),
        ("for n in ['a', 'b']: sys.modules[n] = m", ("a", "b")),
        ("def stub(n):\n    sys.modules[n] = m\nstub('a')\nstub(n='b')", ("a", "b")),
        ("sys.modules[computed()] = m", ("*",)),
        ("sys.modules.pop('a')\ndel sys.modules['b']", ()),
    ],
)
def test_stubs_in_sys_modules(facts_of: FactsOf, source: str, stubs: tuple[str, ...]) -> None:
    assert facts_of(f"import sys\n{source}\n").submodule_stubs == stubs


def test_modules_imported_from_sys(facts_of: FactsOf) -> None:
    facts = facts_of("from sys import modules as loaded\nloaded['a'] = 1\nmodules['b'] = 2\n")
    assert facts.submodule_stubs == ("a",)
