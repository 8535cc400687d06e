"""What a call has to fit: constructors and methods, against what Python says of the classes."""

import inspect
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract_guard.facts.extract import extract
from contract_guard.registry.callables import callable_of
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Tree
from contract_guard.registry.signatures import signature_text

HEAD = """
import abc, dataclasses, enum, functools
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar
import typing
T = TypeVar("T")
"""


def registry_of(source: str) -> Registry:
    return build(
        Tree(files={"pkg/__init__.py": extract(b""), "pkg/m.py": extract(source.encode())})
    )


def told(source: str, name: str = "C") -> str | None:
    found = callable_of(registry_of(HEAD + textwrap.dedent(source)), f"pkg.m:{name}")
    return signature_text(found.signature) if found is not None else None


def python(source: str, name: str = "C") -> list[tuple[str, str, bool]]:
    space: dict[str, object] = {"__name__": "builtins"}
    exec(HEAD + textwrap.dedent(source), space)
    made = space[name]
    assert callable(made)
    return [(p.name, p.kind.name, p.default is p.empty) for p in parameters(made)]


def parameters(made: Callable[..., object]) -> list[inspect.Parameter]:
    return list(inspect.signature(made).parameters.values())


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        ("class C: ...", "()"),
        ("class C(abc.ABC):\n    def __init__(self, a, *, b=1): ...", "(a, *, b=1)"),
        ("class A:\n    def __init__(self, a, /): ...\nclass C(A, Generic[T]): ...", "(a, /)"),
        ("@register\nclass C:\n    def __init__(self, a): ...", "(a)"),
        ("KNOWN = {}\ndef register(c):\n    KNOWN[c.__name__] = c\n    return c\n"
         "@register\nclass C:\n    def __init__(self, a): ...", "(a)"),
        ("class C(Unknown):\n    def __init__(self, a): ...", "(a)"),
        ("@dataclass\nclass C:\n    a: int\n    b: list = field(default_factory=list)\n    c = 3",
         "(a, b=list)"),
        ("@dataclasses.dataclass(frozen=True)\n"
         "class C:\n    a: ClassVar[int] = 1\n    b: InitVar[int]", "(b)"),
        ("@dataclass\nclass C:\n    a: int\n    _: KW_ONLY\n    b: int\n    c: 'ClassVar[int]' = 3",
         "(a, *, b)"),
        ("@dataclass(kw_only=True)\nclass C:\n    a: int\n    b: int = field(kw_only=False)",
         "(b, *, a)"),
        ("@dataclass\nclass C:\n    a: int = field(init=False)\n    b: int = field(default=2)",
         "(b=2)"),
        ("@dataclass\nclass A:\n    a: int\n    b: int = 1\n@dataclass\nclass C(A):\n"
         "    c: int = 2\n    a: int = 3", "(a=3, b=1, c=2)"),
        ("@dataclass\nclass C:\n    a: int\n    def __init__(self, b): ...", "(b)"),
        ("class C(NamedTuple):\n    a: int\n    b: int = 1", "(a, b=1)"),
    ],
)  # fmt: skip
def test_constructor(source: str, signature: str) -> None:
    assert told(source) == signature
    if (
        "Unknown" not in source and "register" not in source and "'" not in source
    ):  # a module would have what quotes name
        names = [name.partition("=")[0] for name in signature.strip("()").split(", ")]
        plain = [name for name in names if name not in ("", "*", "/")]
        assert [name for name, _, _ in python(source)] == plain


@pytest.mark.parametrize(
    "source",
    [
        "class C(Unknown): ...",
        "class C(enum.Enum):\n    def __init__(self, a): ...",
        "class C(metaclass=Meta):\n    def __init__(self, a): ...",
        "class C:\n    def __new__(cls, *a): ...\n    def __init__(self, a): ...",
        "class M(type):\n    def __call__(cls, *a): ...\nclass A(metaclass=M): ...\n"
        "class B(A): ...\nclass C(B):\n    def __init__(self, a): ...",
        "class A:\n    def __new__(cls, *a): ...\nclass C(A):\n    def __init__(self, a): ...",
        "class A(enum.Enum): ...\nclass C(A):\n    def __init__(self, a): ...",
        "def made(c):\n    return lambda *a: c(1)\n@made\nclass C:\n    def __init__(self, a): ...",
        "class C:\n    @functools.wraps(f)\n    def __init__(self, a): ...",
        "class C:\n    def __init__(self, a): ...\n    if f:\n        def __init__(self, b): ...",
        "if f:\n    class C: ...",
        "class C: ...\nclass C: ...",
        "@register\nclass C: ...",
        "@dataclass(init=f)\nclass C:\n    a: int",
        "@dataclass(**f)\nclass C:\n    a: int",
        "@dataclass\nclass C:\n    a: int = field(init=f)",
        "@dataclass\nclass C:\n    if f:\n        a: int",
        "@dataclass\nclass C(Unknown):\n    a: int",
        "@dataclass\nclass C:\n    a: int\n    def a(self): ...",
        "@dataclass\nclass A:\n    a: int = 1\n@dataclass\nclass C(A):\n    a: int",
        "def dataclass(f): ...\n@dataclass\nclass C:\n    a: int",
        "class A:\n    def __init__(self, a): ...\nclass B: ...\nclass C(B, A): ...",
        "class C:\n    def __init__(self, a): ...\nC.__init__ = f",
        "class C:\n    def __init__(): ...",
    ],
)
def test_a_constructor_that_is_not_plain(source: str) -> None:
    assert told(source) is None


@pytest.mark.parametrize(
    "source",
    [
        "class C:\n    def __init__(self):\n        self.m = print\n    def m(self, a): ...",
        "class C:\n    def __getattribute__(self, name): ...\n    def m(self, a): ...",
        "class D: ...\ndef made(c):\n    return D\n@made\nclass C:\n    def m(self, a): ...",
    ],
)
def test_a_method_that_is_not_plain(source: str) -> None:
    assert told(source, "C.m") is None


def test_methods() -> None:
    registry = registry_of(
        textwrap.dedent(
            """
            class C:
                def own(self, a): ...
                @classmethod
                def made(cls, a): ...
                @staticmethod
                def free(a): ...
                @property
                def value(self): ...
                def stored(self, a): ...
            def use(c):
                c.stored = 1
            """
        )
    )

    def signatures(name: str) -> tuple[str, str] | None:
        found = callable_of(registry, f"pkg.m:C.{name}")
        if found is None or found.on_instance is None:
            return None
        return signature_text(found.signature), signature_text(found.on_instance)

    assert signatures("own") == ("(self, a)", "(a)")
    assert signatures("made") == ("(a)", "(a)")
    assert signatures("free") == ("(a)", "(a)")
    assert signatures("value") is None
    assert signatures("stored") is None
    assert callable_of(registry, "pkg.m:C.absent") is None
    assert callable_of(registry, "pkg.absent:C") is None


FIELDS = st.sampled_from(
    ["{}: int = 1", "{}: int = field(default=1)", "{} = 1", "{}: ClassVar[int] = 1",
     "{}: InitVar[int] = 1", "{}: int = field(default=1, kw_only=True)",
     "{}: int = field(init=False, default=1)", "{}: list = field(default_factory=list)"]
)  # fmt: skip
BODIES = st.lists(
    st.tuples(st.sampled_from("abcd"), FIELDS), min_size=1, max_size=4, unique_by=lambda f: f[0]
)
OPTIONS = st.sampled_from(["", "(kw_only=True)", "(eq=False, order=False)"])


@settings(max_examples=60)
@given(BODIES, BODIES, OPTIONS, st.booleans())
def test_data_classes_as_python_makes_them(above, below, options: str, is_data: bool) -> None:
    def body(fields) -> str:
        return "".join(f"    {text.format(name)}\n" for name, text in fields)

    decorator = f"@dataclass{options}\n" if is_data else ""
    source = f"@dataclass{options}\nclass A:\n{body(above)}\n{decorator}class C(A):\n{body(below)}"
    found = callable_of(registry_of(HEAD + source), "pkg.m:C")
    assert found is not None
    kinds = {"POSITIONAL_OR_KEYWORD": "positional", "KEYWORD_ONLY": "keyword-only"}
    assert [(p.name, p.kind, p.default is None) for p in found.signature.parameters] == [
        (name, kinds[kind], is_needed) for name, kind, is_needed in python(source)
    ]
