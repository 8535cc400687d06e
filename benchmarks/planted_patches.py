"""Rename patched names in a copy of a package, and compare CG103 with running the patch.

    python benchmarks/planted_patches.py DIR [--count 100] [--seed 0]

DIR is a directory that holds packages of pure Python (a `site-packages` with one package in it
will do). Each fault renames one function, class, constant or method where it is defined. A
test file is written that patches the old name in every form, and a few names that are still there.
Python's answer comes from importing and resolving each target in a child process; modules that do
not survive the change themselves are counted apart.

This runs the code of the package.
"""

import argparse
import builtins
import functools
import json
import os
import pkgutil
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from contract_guard.detectors.run import run
from contract_guard.facts.extract import extract
from contract_guard.facts.model import Binding, ModuleFacts, Unreadable
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Tree

TEST_PATH = "test_planted_patches.py"
CONTROLS = 6


class Target(NamedTuple):
    """`owner` is the class of a member, "" for a name of the module; `line` where it is bound."""

    path: str
    module: str
    owner: str
    name: str
    line: int

    @property
    def dotted(self) -> str:
        return ".".join(filter(None, (self.module, self.owner, self.name)))


def targets(registry: Registry) -> Iterator[Target]:
    """Names that are bound once, by a statement of their own, in modules that are no tests."""
    for path, facts in registry.facts():
        module = registry.module(path).name
        parts = module.split(".")
        is_named = all(part.isidentifier() and part != "__main__" for part in parts)
        if registry.layout.is_test(path) or not path.endswith(".py") or not is_named:
            continue
        yield from _plain(path, module, "", facts.bindings)
        for found in facts.classes:
            if facts.scopes[found.scope].parent == 0 and found.guard < 0:
                yield from _plain(path, module, found.name, found.members)


def _plain(path: str, module: str, owner: str, bindings: tuple[Binding, ...]) -> Iterator[Target]:
    times = Counter(binding.name for binding in bindings)
    for binding in bindings:
        kinds = ("function",) if owner else ("function", "class", "assign")
        is_own = binding.kind in kinds and binding.guard < 0
        # `mock.patch` makes a builtin's name where it is missing.
        is_special = binding.name.startswith("__") or hasattr(builtins, binding.name)
        if is_own and times[binding.name] == 1 and not is_special:
            yield Target(path, module, owner, binding.name, binding.span.line)


def renamed(source: bytes, target: Target) -> bytes:
    lines = source.split(b"\n")
    name = target.name.encode()
    lines[target.line - 1] = re.sub(
        rb"\b%s\b" % name, b"renamed_" + name, lines[target.line - 1], count=1
    )
    return b"\n".join(lines)


def forms(target: Target) -> list[str]:
    """Context managers, as source text, that patch the target."""
    holder = ".".join(filter(None, (target.module, target.owner)))
    return [
        f'mock.patch("{target.dotted}")',
        f'mock.patch.object({holder}, "{target.name}")',
        f'mock.patch.multiple("{holder}", {target.name}=None)',
        f'kept(monkeypatch.setattr("{target.dotted}", None))',
        f'kept(monkeypatch.delattr({holder}, "{target.name}"))',
    ]


def test_file(patches: list[tuple[Target, str]]) -> str:
    modules = sorted({target.module for target, _ in patches})
    lines = ["from unittest import mock", *(f"import {module}" for module in modules)]
    for number, (_, form) in enumerate(patches):
        lines += [f"def test_{number}(monkeypatch):", f"    with {form}:", "        pass"]
    return "\n".join(lines) + "\n"


def python_says(patches: list[tuple[Target, str]]) -> list[str]:
    """For each patch the name of the error that resolving its target raises, "" for none."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        sys.dont_write_bytecode = True
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                answers = [_error_of(*patch) for patch in patches]
            with os.fdopen(writing, "w") as stream:
                json.dump(answers, stream)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else ["died"] * len(patches)


def _error_of(target: Target, form: str) -> str:
    for module in (target.module.partition(".")[0], target.module):
        if broken := _import_error(module):
            return broken
    try:
        if form.startswith(("mock.patch(", "mock.patch.multiple(")):
            found = pkgutil.resolve_name(target.dotted.rpartition(".")[0])
        else:
            top, *rest = target.dotted.split(".")[:-1]
            found = functools.reduce(getattr, rest, import_module(top))
        getattr(found, target.name)
    except (AttributeError, ImportError) as error:
        return type(error).__name__
    return ""


@functools.cache
def _import_error(module: str) -> str:
    """Kept: a second attempt would find what the first one left behind."""
    try:
        import_module(module)
    except BaseException as error:  # noqa: BLE001 - whatever the package raises is an answer
        return f"import: {type(error).__name__}"
    return ""


def tool_says(files: Mapping[str, ModuleFacts | Unreadable], test: str) -> set[int]:
    """Numbers of the patches that CG103 reports as errors."""
    source = test.encode()
    registry = build(Tree(files={**files, TEST_PATH: extract(source)}))
    read: Callable[[str], bytes] = {TEST_PATH: source}.__getitem__
    found = run(_only(registry), read, select=("CG103",))
    reported = [f.test or "" for f in found if f.path == TEST_PATH and f.severity == "error"]
    return {int(node.rpartition("test_")[2]) for node in reported}


def _only(registry: Registry) -> Registry:
    """Findings are asked of the test file alone: nothing else is read."""
    facts = registry.tree.files[TEST_PATH]
    registry.facts = lambda: [(TEST_PATH, facts)]  # type: ignore[method-assign]
    return registry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / "copy"
        shutil.copytree(arguments.directory, root, ignore=shutil.ignore_patterns(".git", "*.pyc"))
        sys.path.insert(0, str(root))
        return compare(root, arguments.count, random.Random(arguments.seed))


def compare(root: Path, count: int, chooser: random.Random) -> int:
    started = time.perf_counter()
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.py"))}
    facts = {path: extract(source) for path, source in files.items()}
    known = sorted(targets(build(Tree(files=facts))))
    totals: Counter[str] = Counter()
    for number, target in enumerate(chooser.sample(known, min(count, len(known)))):
        others = [(t, chooser.choice(forms(t))) for t in chooser.sample(known, CONTROLS)]
        patches = [(target, form) for form in forms(target)] + [o for o in others if o[0] != target]
        source = renamed(files[target.path], target)
        place = root / target.path
        place.write_bytes(source)
        stamp = 1_000_000_000 + number  # bytecode is known by whole seconds and size
        os.utime(place, (stamp, stamp))
        truth = python_says(patches)
        place.write_bytes(files[target.path])
        reported = tool_says({**facts, target.path: extract(source)}, test_file(patches))
        for index, error in enumerate(truth):
            stale = error == "AttributeError"
            totals["stale"] += stale
            totals["found"] += stale and index in reported
            totals["apart"] += bool(error) and not stale
            totals["fine"] += not error
            wrong = not error and index in reported
            totals["wrong"] += wrong
            if wrong or (stale and index not in reported):
                what = "wrong" if wrong else "missed"
                print(f"{what} {patches[index][1]} after {target.dotted}: {error}", flush=True)
    recall = totals["found"] / totals["stale"] if totals["stale"] else 1.0
    print(
        f"{totals['stale']} stale patches, {totals['found']} found, recall {recall:.4f}; "
        f"{totals['fine']} that work, {totals['wrong']} false alarms; {totals['apart']} apart; "
        f"{time.perf_counter() - started:.0f} s"
    )
    return 0 if recall >= 0.98 and not totals["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
