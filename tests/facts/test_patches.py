"""Targets of the patch family."""

from collections.abc import Callable

import pytest

from contract_guard.facts.model import ModuleFacts, Span

FactsOf = Callable[[str], ModuleFacts]

HEAD = """\
import unittest.mock
from unittest import mock
from unittest.mock import patch
from unittest.mock import patch as fake
import pkg.mod as pm
from pkg import other
PREFIX = "pkg.mod"
"""


def summary(facts: ModuleFacts) -> list[tuple[str, str, str | None, int]]:
    bound = [
        facts.imports[patch.imported[0]].bound if patch.imported else "" for patch in facts.patches
    ]
    return [
        (patch.form, patch.target, patch.attribute, name)
        for patch, name in zip(facts.patches, bound, strict=True)
    ]


@pytest.mark.parametrize(
    ("source", "form", "target", "attribute", "root"),
    [
        ("patch('a.b')", "mock.patch", "a.b", None, ""),
        ("mock.patch('a.b')", "mock.patch", "a.b", None, ""),
        ("unittest.mock.patch('a.b')", "mock.patch", "a.b", None, ""),
        ("fake('a.b')", "mock.patch", "a.b", None, ""),
        ("mocker.patch('a.b')", "mock.patch", "a.b", None, ""),
        ("self.mocker.patch('a.b')", "mock.patch", "a.b", None, ""),
        ("patch(target='a.b')", "mock.patch", "a.b", None, ""),
        ("patch(f'{PREFIX}.x')", "mock.patch", "pkg.mod.x", None, ""),
        ("patch(PREFIX + '.x')", "mock.patch", "pkg.mod.x", None, ""),
        ("patch(f'{pm.__name__}.x')", "mock.patch", "pm", "x", "pm"),
        ("patch(pm.__name__ + '.K.x')", "mock.patch", "pm.K", "x", "pm"),
        ("patch.object(pm, 'x')", "mock.patch.object", "pm", "x", "pm"),
        ("mock.patch.object(pm.K, 'x')", "mock.patch.object", "pm.K", "x", "pm"),
        ("fake.object(pm, attribute='x')", "mock.patch.object", "pm", "x", "pm"),
        ("mocker.spy(pm, 'x')", "mock.patch.object", "pm", "x", "pm"),
        ("patch.object(sys.modules['a.b'], 'x')", "mock.patch.object", "a.b.x", None, ""),
        ("patch.multiple('a.b', x=1)", "mock.patch.multiple", "a.b.x", None, ""),
        ("patch.multiple(pm, x=1, spec=2)", "mock.patch.multiple", "pm", "x", "pm"),
        ("patch.dict('a.TABLE', {})", "mock.patch.dict", "a.TABLE", None, ""),
        ("patch.dict(pm.TABLE, {})", "mock.patch.dict", "pm", "TABLE", "pm"),
        ("monkeypatch.setattr('a.b', 1)", "monkeypatch.setattr", "a.b", None, ""),
        ("monkeypatch.setattr(pm, 'x', 1)", "monkeypatch.setattr", "pm", "x", "pm"),
        ("monkeypatch.setattr(pm, name='x', value=1)", "monkeypatch.setattr", "pm", "x", "pm"),
        ("monkeypatch.delattr('a.b')", "monkeypatch.delattr", "a.b", None, ""),
        ("monkeypatch.delattr(pm, 'x')", "monkeypatch.delattr", "pm", "x", "pm"),
        ("setattr(pm, 'x', 1)", "setattr", "pm", "x", "pm"),
        ("delattr(other.K, 'x')", "delattr", "other.K", "x", "other"),
        (
            "with monkeypatch.context() as m: m.setattr(pm, 'x', 1)",
            "monkeypatch.setattr",
            "pm",
            "x",
            "pm",
        ),
        (
            "mp = pytest.MonkeyPatch()\nmp.setattr(pm, 'x', 1)",
            "monkeypatch.setattr",
            "pm",
            "x",
            "pm",
        ),
        (
            "def f(mp: pytest.MonkeyPatch): mp.setattr('a.b', 1)",
            "monkeypatch.setattr",
            "a.b",
            None,
            "",
        ),
        ("def f():\n    t = 'a.b'\n    patch(t)", "mock.patch", "a.b", None, ""),
        (
            "class T:\n    MOD = 'a'\n    def f(self): patch(f'{self.MOD}.b')",
            "mock.patch",
            "a.b",
            None,
            "",
        ),
    ],
)
def test_forms(
    facts_of: FactsOf, source: str, form: str, target: str, attribute: str | None, root: str
) -> None:
    facts = facts_of(HEAD + source)
    assert summary(facts) == [(form, target, attribute, root)]
    assert facts.unfolded_targets == 0


@pytest.mark.parametrize(
    "source",
    [
        "obj.patch('a.b')",
        "def patch(x): pass\ndef f(): client.patch('a.b')",
        "dict(a=1)",
        "setattr(self, 'x', 1)",
        "setattr(local, name, 1)",
        "obj.setattr('a.b', 1)",
        "monkeypatch.setenv('A', 'b')",
        "patch('nodots')",
        "patch(__name__ + '.x')",
        "def f(o): patch.object(o, 'x')",
    ],
)
def test_calls_that_patch_nothing_known(facts_of: FactsOf, source: str) -> None:
    facts = facts_of(HEAD + source)
    assert (facts.patches, facts.unfolded_targets) == ((), 0)


@pytest.mark.parametrize(
    "source",
    ["patch(computed())", "patch(f'{PREFIX}.{x}')", "monkeypatch.setattr(pm, name, 1)"],
)
def test_what_does_not_fold_is_counted(facts_of: FactsOf, source: str) -> None:
    facts = facts_of(HEAD + source)
    assert (facts.patches, facts.unfolded_targets) == ((), 1)


def test_literal_loops_give_one_target_each(facts_of: FactsOf) -> None:
    facts = facts_of(HEAD + "for n in ('x', 'y'): monkeypatch.setattr(pm, n, 1)\n")
    assert [patch.attribute for patch in facts.patches] == ["x", "y"]


@pytest.mark.parametrize(
    ("source", "create", "raising"),
    [
        ("patch('a.b')", False, True),
        ("patch('a.b', create=True)", True, True),
        ("patch('a.b', create=flag)", True, True),
        ("monkeypatch.setattr('a.b', 1, raising=False)", False, False),
        ("monkeypatch.delattr(pm, 'x', raising=flag)", False, False),
    ],
)
def test_options(facts_of: FactsOf, source: str, create: bool, raising: bool) -> None:
    (patch,) = facts_of(HEAD + source).patches
    assert (patch.create, patch.raising) == (create, raising)


def test_decorators_contexts_and_ranges(facts_of: FactsOf) -> None:
    facts = facts_of("""
        from unittest.mock import patch
        @patch("a.b", new=3)
        def test():
            with patch("a.c",
                       5) as c:
                pass
    """)
    first, second = facts.patches
    assert (first.decorator, first.new, first.span) == (True, "3", Span(3, 8, 3, 13))
    assert first.call == first.statement == Span(3, 2, 3, 21)
    assert (second.decorator, second.new, second.span) == (False, "5", Span(5, 16, 5, 21))
    assert second.statement == Span(5, 5, 6, 24)
    assert facts.scopes[second.scope].qualname == "test"
