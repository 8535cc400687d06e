"""Name resolution against Python's own symbol tables."""

import symtable
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract_guard.facts.observations import Observations
from contract_guard.facts.reader import read
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.statements import observe

STDLIB = Path(symtable.__file__).parent
FILES = [
    "argparse.py",
    "ast.py",
    "collections/__init__.py",
    "dataclasses.py",
    "doctest.py",
    "enum.py",
    "inspect.py",
    "logging/__init__.py",
    "pickle.py",
    "pydoc.py",
    "statistics.py",
    "tarfile.py",
    "threading.py",
    "typing.py",
    "unittest/mock.py",
]

TRICKY = """
import a, b, c, d, e, f, g, h
def outer():
    global g
    import g
    a = 1
    def inner():
        nonlocal a
        a = b.x
        class K:
            b = b.y
            c = [c for c in c.z if c in b]
            def method(self, d=d.e):
                return a, b, c, K, (e := 3), [f := h for h in h.x if (e := h)]
        return lambda h, *f, **e: (a, h, f, e, g)
    try:
        pass
    except ValueError as b:
        del b
    for c, *d in e:
        pass
    with h as (x, y[0]):
        pass
    match x:
        case {"k": k, **rest}: pass
        case [p, *q] | (p, q): pass
        case C(r) as s: pass
    z: int
    return inner, z, [u for u in a for v in u if v]
class Outer:
    a = a.x
    def a(self): return a
    lst = [a for _ in a]
    class Inner:
        def m(self): return Inner, Outer
"""


def observed(text: str) -> Observations:
    parsed = read(text.encode())
    assert isinstance(parsed, tuple)
    return observe(*parsed)


def key_of(scope: ScopeRecord) -> tuple[str, str, int]:
    node = scope.node
    if node is None:
        return "module", "top", 0
    name = {
        "Lambda": "lambda",
        "ListComp": "listcomp",
        "SetComp": "setcomp",
        "DictComp": "dictcomp",
        "GeneratorExp": "genexpr",
    }.get(type(node).__name__, scope.name)
    kind = "class" if scope.kind == "class" else "function"
    return kind, name, node.lineno


def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from tables(child)


def mismatches(text: str) -> list[str]:
    notes = observed(text)
    ours: dict[tuple[str, str, int], list[ScopeRecord]] = {}
    for scope in notes.every_scope():
        ours.setdefault(key_of(scope), []).append(scope)
    found = []
    for table in tables(symtable.symtable(text, "x.py", "exec")):
        if table.get_type() == "module":
            key = ("module", "top", 0)
        elif table.get_type() in ("class", "function"):
            key = (table.get_type(), table.get_name(), table.get_lineno())
        else:
            continue
        scopes = ours.get(key, [])
        if len(scopes) != 1:
            continue  # two on one line: the table does not tell which
        scope = scopes[0]
        inlined = {
            name
            for inner in notes.inner_scopes
            if inner.kind == "comprehension" and inner.binding_scope() is scope
            for name in inner.bound
        }
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if sys.version_info >= (3, 12) and name in inlined:
                continue  # the table of a scope lists those of its comprehensions as well
            if symbol.is_annotated() and table.get_type() != "function":
                continue  # `name: T` alone binds nothing there
            if name.startswith(
                (".", "__class", "__type_params__", "_" + table.get_name().lstrip("_") + "__")
            ) or not (symbol.is_referenced() or symbol.is_assigned()):
                continue
            home = scope.home(name)
            if symbol.is_declared_global() or (symbol.is_global() and not symbol.is_local()):
                right = home is None or home is notes.module
            elif symbol.is_free():
                right = home is not None and home not in (scope, notes.module)
            else:
                right = home is scope
            if not right:
                where = home.qualname if home is not None else None
                found.append(f"{key}: {name} led to {where!r}")
    return found


def test_tricky_scopes_lead_where_python_says() -> None:
    assert mismatches(TRICKY) == []


@pytest.mark.parametrize("name", FILES)
def test_names_of_the_standard_library_lead_where_python_says(name: str) -> None:
    assert mismatches((STDLIB / name).read_text("utf-8")) == []
