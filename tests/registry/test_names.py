"""What a name means: re-exports, stars, lazy modules, submodules, and what stays unknown."""

import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_guard.facts.model import ModuleFacts
from contract_guard.registry.index import Registry, build


def asked(registry: Registry, statement: str):
    """The resolution of the one import in `user.py`."""
    facts = registry.tree.files["user.py"]
    assert isinstance(facts, ModuleFacts), statement
    return registry.resolve_import("user.py", facts.imports[-1])


def used(registry: Registry, path: str = "user.py"):
    """The resolution of the last attribute chain of a file."""
    facts = registry.tree.files[path]
    assert isinstance(facts, ModuleFacts)
    return registry.resolve_use(path, facts.uses[-1])


PACKAGE = {
    "p/__init__.py": "from p.chain import deep\nfrom .log import log\nimport p.loaded\n",
    "p/chain.py": "from p.star import *\n",
    "p/star.py": "from ._base import deep as deep\n_hidden = 1\nshown = 1\n",
    "p/_base.py": "deep = 5\n",
    "p/listed.py": "__all__ = ['_private', 'sub']\n_private = 1\nunlisted = 2\n",
    "p/from_listed.py": "from p.listed import *\n",
    "p/cycle_a.py": "first = 1\nfrom p.cycle_b import *\n",
    "p/cycle_b.py": "from p.cycle_a import *\nsecond = 2\n",
    "p/own.py": "from p.own import itself\n",
    "p/log.py": "log = object()\nclass Log:\n    pass\n",
    "p/loaded.py": "x = 1",
    "p/never.py": "x = 1",
    "p/table.py": "def __getattr__(name):\n    if name == 'served':\n        return 1\n"
    "    raise AttributeError(name)\n",
    "p/open.py": "import p\ndef __getattr__(name):\n    return getattr(p, name)\n",
    "p/replaced.py": "import sys\nsys.modules[__name__] = object()\n",
    "p/written.py": "for n in 'ab':\n    globals()[n * 2] = 1\n",
    "p/maybe.py": "import sys\nif sys.platform == 'x':\n    some = 1\ntry:\n    import fast\n"
    "except ImportError:\n    fast = None\n",
    "p/types.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from p._base import deep\n",
    "p/gone.py": "gone = 1\ndel gone\nkept: int\n",
    "p/outer.py": "from torch import *\nfrom torch import nn\n",
    "p/broken.py": "from p._base import nothing\ntry:\n    from p._base import perhaps\n"
    "except ImportError:\n    pass\n",
    "p/stubbed.py": "known = 1\n",
    "p/stubbed.pyi": "known: int\nonly_stub: int\n",
    "p/only_stub.pyi": "def typed() -> int: ...\n",
    "p/globals.py": "def f():\n    global made\n    made = 1\n",
    "p/pathed/__init__.py": "__path__ = []\n",
    "p/reader.py": "import p\nprint(p.__path__)\n",
    "p/fake.py": "import sys\nsys.modules['p.faked'] = object()\n",
    "p/set.py": "import p.target\np.target.stored = 1\nsetattr(p.target, 'set', 2)\n",
    "p/patch.py": "from unittest import mock\nimport p.target\n"
    "mock.patch.object(p.target, 'for_a_test', 1, create=True)\n",
    "p/target.py": "own = 1\n",
}


@pytest.mark.parametrize(
    ("statement", "status", "detail"),
    [
        ("from p import deep", "exists", "p._base:deep"),
        ("from p.chain import shown", "exists", "p.star:shown"),
        ("from p.chain import _hidden", "missing", "p.chain:_hidden"),
        ("from p.from_listed import _private", "exists", "p.listed:_private"),
        ("from p.from_listed import unlisted", "missing", "p.from_listed:unlisted"),
        ("from p.listed import *", "missing", "p.listed:sub"),
        ("from p.cycle_a import second", "exists", "p.cycle_b:second"),
        ("from p.cycle_b import first", "exists", "p.cycle_a:first"),
        ("from p.cycle_b import third", "missing", "p.cycle_b:third"),
        ("from p import log", "exists", "p.log:log"),
        ("from p import never", "exists", "p.never"),
        ("from p.table import served", "exists", None),
        ("from p.table import other", "missing", "p.table:other"),
        ("from p.open import anything", "unknown", "module-getattr"),
        ("from p.replaced import anything", "unknown", "dynamic-module"),
        ("from p.written import aa", "unknown", "dynamic-module"),
        ("from p.maybe import some", "exists", "p.maybe:some"),
        ("from p.maybe import fast", "exists", None),
        ("from p.types import deep", "missing", "p.types:deep"),
        ("from p.gone import gone", "missing", "p.gone:gone"),
        ("from p.gone import kept", "missing", "p.gone:kept"),
        ("from p.outer import anything", "unknown", "star-import"),
        ("from p.outer import nn", "exists", None),
        ("from p.broken import nothing", "unknown", "broken-import"),
        ("from p.broken import perhaps", "unknown", "guarded-import"),
        ("from p.stubbed import only_stub", "unknown", "stub"),
        ("from p.stubbed import neither", "missing", "p.stubbed:neither"),
        ("from p.only_stub import typed", "exists", "p.only_stub:typed"),
        ("from p.only_stub import untyped", "unknown", "compiled"),
        ("from p._C import launch", "unknown", "compiled"),
        ("import p._C.inner", "unknown", "compiled"),
        ("from p._version import version", "unknown", "generated"),
        ("from p import _version", "unknown", "generated"),
        ("from p.generated.deep import x", "unknown", "generated"),
        ("from p.bad import x", "unknown", "unreadable"),
        ("from p.globals import made", "exists", "p.globals:made"),
        ("from p.pathed.elsewhere import x", "unknown", "dynamic-module"),
        ("from p.reader import x", "missing", "p.reader:x"),
        ("import p.faked", "unknown", "stubbed"),
        ("from p.target import stored", "unknown", "assigned-elsewhere"),
        ("from p.target import set", "unknown", "assigned-elsewhere"),
        ("from p.target import for_a_test", "missing", "p.target:for_a_test"),
        ("from p.target import other", "missing", "p.target:other"),
        ("from p.dynamic import x", "unknown", "configured"),
        ("from p._base import configured_name", "unknown", "configured"),
        ("from p import __name__, __path__", "exists", None),
        ("from p._base import __path__", "missing", "p._base:__path__"),
        ("import p.nowhere", "missing", "p.nowhere"),
        ("from p.__init__ import deep", "exists", "p._base:deep"),
        ("from p.__init__ import gone_name", "missing", "p:gone_name"),
        ("from p.nowhere.deeper import x", "missing", "p.nowhere"),
    ],
)
def test_imports(registry_of, statement: str, status: str, detail: str | None) -> None:
    registry = registry_of(
        {**PACKAGE, "user.py": statement, "p/bad.py": "def ("},
        compiled=frozenset({"p/_C"}),
        hints=frozenset({"_version", "p.generated"}),
        dynamic_names=("p.dynamic", "p._base:configured_*"),
    )
    found = asked(registry, statement)
    assert found.status == status
    if status == "exists":
        assert (found.producer.symbol if found.producer else None) == detail
    else:
        assert detail in (found.symbol, found.reason)


@pytest.mark.parametrize(
    ("source", "status", "detail"),
    [
        ("import p\np.deep", "exists", "p._base:deep"),
        ("import p\np.gone_name", "missing", "p:gone_name"),
        ("import p\np.log.error()", "exists", "p.log:log"),
        ("import p\np.loaded.y", "missing", "p.loaded:y"),
        ("import p\np.never", "unknown", "submodule-not-imported"),
        ("import p.never\np.never.y", "missing", "p.never:y"),
        ("import p.never as m\nm.x.bit_length()", "exists", "p.never:x"),
        ("from p import log as l\nl.Log", "exists", "p.log:log"),
        ("import importlib\nm = importlib.import_module('p.never')\nm.z", "missing", "p.never:z"),
        (
            "try:\n    import torch as m\nexcept ImportError:\n    import p as m\nm.zzz",
            "unknown",
            "external",
        ),
        ("import torch\ntorch.zeros(1)", "unknown", "external"),
        ("import p.target\np.target.stored", "unknown", "assigned-elsewhere"),
        ("import p.target\np.target.for_a_test", "unknown", "assigned-elsewhere"),
        ("import p.target\np.target.mine = 1", "missing", "p.target:mine"),
        ("import p.target\np.target.stored = 1", "missing", "p.target:stored"),
        ("from p.broken import nothing\nnothing.x", "unknown", "broken-import"),
    ],
)
def test_attributes(registry_of, source: str, status: str, detail: str) -> None:
    found = used(registry_of({**PACKAGE, "user.py": source}))
    assert found.status == status
    if status == "exists":
        assert found.producer.symbol == detail
    else:
        assert detail in (found.symbol, found.reason)


def test_how_far_a_chain_was_followed(registry_of) -> None:
    registry = registry_of({**PACKAGE, "user.py": "import p.never\np.never.gone.more"})
    assert used(registry).depth == 1
    registry = registry_of({**PACKAGE, "user.py": "import p\np.deep.real.imag"})
    assert used(registry).depth == 1


def test_the_modules_that_a_name_came_through(registry_of) -> None:
    found = asked(registry_of({**PACKAGE, "user.py": "from p import deep"}), "")
    assert found.via == ("p", "p.chain", "p.star")
    assert (found.symbol, found.producer.path) == ("p:deep", "p/_base.py")


def test_type_checking_names_are_there_for_type_checkers(registry_of) -> None:
    guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.types import deep\n"
    assert asked(registry_of({**PACKAGE, "user.py": guarded}), guarded).status == "exists"
    plain = asked(registry_of({**PACKAGE, "user.py": "from p.types import deep"}), "")
    assert plain.reason == "type-checking-only"


def test_a_name_of_several_definitions_has_no_single_producer(registry_of) -> None:
    sources = {
        "a.py": "x = 1",
        "b.py": "x = 1",
        "m.py": "try:\n    from a import x\nexcept ImportError:\n    from b import x\n",
        "user.py": "from m import x",
    }
    found = asked(registry_of(sources), "")
    assert (found.status, found.producer) == ("exists", None)


def test_an_endless_chain_is_unknown(registry_of) -> None:
    sources = {f"m{n}.py": f"from m{n + 1} import x" for n in range(400)}
    registry = registry_of({**sources, "m400.py": "x = 1", "user.py": "from m0 import x"})
    assert asked(registry, "").status != "missing"


def test_dotted_strings_import_on_the_way(registry_of) -> None:
    registry = registry_of({**PACKAGE, "user.py": ""})
    assert registry.resolve_dotted("p.never.x").producer.symbol == "p.never:x"
    # The submodule, as for `pkgutil.resolve_name`, not the attribute of that name.
    assert registry.resolve_dotted("p.log.Log.emit").symbol == "p.log:Log.emit"
    missing = registry.resolve_dotted("p.nowhere.x")
    assert (missing.status, missing.symbol, missing.missing_module) == (
        "missing",
        "p.nowhere",
        True,
    )
    assert registry.resolve_dotted("p.deepest").symbol == "p:deepest"
    assert registry.resolve_dotted("torch.nn.Module").reason == "external"


def test_patches(registry_of) -> None:
    source = (
        "from unittest import mock\nimport p.star\nfrom p.log import Log\n"
        "mock.patch('p.star.gone')\nmock.patch.object(p.star, 'deep')\n"
        "mock.patch.object(Log, 'm')\n"
        "mock.patch.object(unbound(), 'm')\n"
    )
    registry = registry_of({**PACKAGE, "user.py": source})
    patches = registry.tree.files["user.py"].patches
    found = [registry.resolve_patch("user.py", patch) for patch in patches]
    assert [(f.status, f.symbol) for f in found if f.reason != "not-an-import"] == [
        ("missing", "p.star:gone"),
        ("exists", "p.star:deep"),
        ("missing", "p.log:Log.m"),
    ]


NAMES = ("a", "b", "_c")


@st.composite
def packages(draw: st.DrawFn) -> dict[str, str]:
    """Modules `m0` .. `mN`, each importing only from later ones, so that no cycle decides."""
    count = draw(st.integers(2, 5))
    sources: dict[str, str] = {"__init__.py": ""}
    for number in reversed(range(count)):
        lines: list[str] = []
        for _ in range(draw(st.integers(0, 4))):
            name = draw(st.sampled_from(NAMES))
            later = draw(st.integers(number + 1, count))
            kinds = ["assign", "class", "if", "del"]
            if later < count:
                kinds += ["from", "star", "as", "try"]
            lines.append(
                {
                    "assign": f"{name} = 1",
                    "class": f"class {name}: pass",
                    "if": f"if True:\n    {name} = 1",
                    "del": f"{name} = 1\ndel {name}",
                    "from": f"from .m{later} import {name}",
                    "star": f"from .m{later} import *",
                    "as": f"from .m{later} import {name} as {draw(st.sampled_from(NAMES))}",
                    "try": f"try:\n    from .m{later} import {name}\nexcept ImportError:\n    pass",
                }[draw(st.sampled_from(kinds))]
            )
        if draw(st.booleans()):
            lines.append(f"__all__ = {draw(st.lists(st.sampled_from(NAMES), unique=True))!r}")
        sources[f"m{number}.py"] = "\n".join(lines) + "\n"
    return sources


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sources=packages())
def test_missing_is_what_python_cannot_import(
    registry_of, tmp_path_factory: pytest.TempPathFactory, sources: dict[str, str]
) -> None:
    directory = tmp_path_factory.mktemp("law")
    package = f"law_{directory.name}"
    for path, source in sources.items():
        place = directory / package / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(source)
    registry = registry_of({f"{package}/{path}": source for path, source in sources.items()})
    for number in range(len(sources) - 1):
        said = {n: registry.resolve_symbol(f"{package}.m{number}:{n}").status for n in NAMES}
        broken = any(
            registry.resolve_import(f"{package}/m{later}.py", imp).status == "missing"
            for later in range(number, len(sources) - 1)
            for imp in registry.tree.files[f"{package}/m{later}.py"].imports
        )
        names = python_names(directory, f"{package}.m{number}")
        if broken:  # reported there; what comes after it is not said to be missing
            continue
        assert names is not None
        for name, status in said.items():
            assert status == "unknown" or (status == "exists") == (name in names), (number, name)


def python_names(directory: Path, module: str) -> set[str] | None:
    """What Python finds in the module, None where it cannot be imported."""
    package = module.partition(".")[0]
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    try:
        return set(vars(importlib.import_module(module)))
    except (ImportError, AttributeError):
        return None
    finally:
        sys.path.remove(str(directory))
        for name in [n for n in sys.modules if n.partition(".")[0] == package]:
            del sys.modules[name]


def test_a_registry_without_files() -> None:
    from contract_guard.registry.model import Tree

    registry = build(Tree(files={}))
    assert list(registry.facts()) == []
    assert registry.resolve_dotted("a.b").reason == "external"
