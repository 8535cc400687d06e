"""Functions that can be read as decorators of classes, and the attributes that they set."""

import textwrap

import pytest

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts


def decorators(source: str) -> dict[str, tuple[str, ...]]:
    facts = extract(textwrap.dedent(source).encode())
    assert isinstance(facts, ModuleFacts)
    return {found.name: found.attributes for found in facts.class_decorators}


@pytest.mark.parametrize(
    ("body", "attributes"),
    [
        ("return cls", ()),
        ("REGISTRY[cls.__name__] = cls\n    return cls", ()),
        ("REGISTRY.append(cls)\n    return cls", ()),
        ("cls.tag = 1\n    return cls", ("tag",)),
        ("setattr(cls, 'tag', 1)\n    return cls", ("tag",)),
        ("if hasattr(cls, 'x'):\n        cls.tag = 1\n    return cls", ("tag",)),
        ("def __repr__(self):\n        return 'x'\n    cls.__repr__ = __repr__\n    return cls",
         ("__repr__",)),
        ("if cls is None:\n        raise TypeError\n    else:\n        return cls", ()),
    ],
)  # fmt: skip
def test_gives_the_class_back(body: str, attributes: tuple[str, ...]) -> None:
    assert decorators(f"def mark(cls):\n    {body}\n") == {"mark": attributes}


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "return None",
        "return wrap(cls)",
        "setattr(cls, name, 1)\n    return cls",
        "for name in NAMES:\n        setattr(cls, name, 1)\n    return cls",
        "cls.__dict__.update(x=1)\n    return cls",
        "vars(cls)\n    return cls",
        "del cls.x\n    return cls",
        "other = cls\n    other.x = 1\n    return cls",
        "cls = make(cls)\n    return cls",
        "change(cls)\n    return cls",
        "change(it=cls)\n    return cls",
        "cls.prepare()\n    return cls",
        "type.__setattr__(cls, name, 1)\n    return cls",
        "if x:\n        return cls",
        "yield cls\n    return cls",
        "class New(cls): ...\n    return New",
        "return type(cls.__name__, (cls,), {})",
        "return [cls]",
    ],
)
def test_anything_else_is_not_understood(body: str) -> None:
    assert decorators(f"def mark(cls):\n    {body}\n") == {}


def test_factories() -> None:
    source = """
        from functools import partial

        def named(name):
            def mark(cls):
                cls.name = name
                return cls
            return mark

        def either(cls=None, *, angular=False):
            def change(cls, angular):
                cls.angular = angular
                return cls
            if cls is None:
                return partial(change, angular=angular)
            else:
                return change(cls, angular=angular)

        def alias(cls=None):
            return either() if cls is None else either(cls)

        def hidden(name):
            def mark(cls):
                setattr(cls, name, 1)
                return cls
            return mark
    """
    assert decorators(source) == {"named": ("name",), "either": ("angular",), "alias": ("angular",)}


def test_overloads_count_once_and_other_repetitions_never() -> None:
    overloaded = """
        @overload
        def mark(cls: None) -> None: ...
        def mark(cls):
            return cls
    """
    assert decorators(overloaded) == {"mark": ()}
    assert decorators("def mark(cls):\n    return cls\n\ndef mark(cls):\n    return cls\n") == {}


def test_decorated_asynchronous_and_recursive_functions_never_count() -> None:
    assert decorators("@wraps\ndef mark(cls):\n    return cls\n") == {}
    assert decorators("async def mark(cls):\n    return cls\n") == {}
    assert decorators("def mark(cls):\n    return mark(cls)\n") == {}
    assert decorators("def a(cls):\n    return b(cls)\ndef b(cls):\n    return a(cls)\n") == {}
