"""Plant faults in a copy of a pure-Python package, and compare what is reported with Python.

    python benchmarks/planted_faults.py DIR [--count 200] [--seed 0] [--path ENTRY]...

DIR is a directory that holds a package with its tests inside or beside it (a `site-packages` with
one package in it will do). Each fault deletes or renames one constant, function or class of one
module. Python's answer comes from importing every test module in a child process; contract_guard's
from the registry. Counted are test modules that cannot be imported: those that contract_guard
names (recall, over failures by ImportError or AttributeError), and those that it names though
Python imports them (false alarms). Failures by NameError, where the faulty module itself uses the
name, are counted apart.

This runs the code of the package. `--path` gives entries of `sys.path` below DIR, "." by default.
"""

import argparse
import ast
import contextlib
import gc
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.registry import guards
from contract_guard.registry.impact import ImportGraph
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Tree

# What tests commonly import: loaded once, not once a fault.
PRELOADED = ("pytest", "numpy", "unittest.mock", "hypothesis", "mpmath", "click", "rich", "libcst")


class Fault(NamedTuple):
    path: str
    name: str
    kind: str
    action: str

    def __str__(self) -> str:
        return f"{self.action} {self.kind} {self.path}:{self.name}"


class Answer(NamedTuple):
    """Why a test module cannot be imported: the error's type, and its text for the report."""

    error: str
    text: str


def faults(
    files: Mapping[str, bytes],
    facts: Mapping[str, ModuleFacts],
    registry: Registry,
    count: int,
    seed: int,
) -> list[Fault]:
    """A random choice among the definitions of all modules that are no tests."""
    candidates: list[tuple[str, str, str]] = []
    for path, module in facts.items():
        if registry.layout.is_test(path) or not path.endswith(".py"):
            continue
        times = Counter(binding.name for binding in module.bindings)
        for binding in module.bindings:
            kind = binding.kind
            plain = kind in ("function", "class", "assign") and binding.guard < 0
            if plain and times[binding.name] == 1 and not binding.name.startswith("__"):
                candidates.append((path, binding.name, kind))
    chooser = random.Random(seed)
    chooser.shuffle(candidates)
    chosen: list[Fault] = []
    for path, name, kind in candidates:
        fault = Fault(path, name, kind, chooser.choice(("delete", "rename")))
        if planted(files[path], fault) is not None:
            chosen.append(fault)
        if len(chosen) == count:
            break
    return chosen


def planted(source: bytes, fault: Fault) -> bytes | None:
    """The source with the fault in it, None where the definition is no statement of its own."""
    for node in ast.parse(source).body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case _:
                continue
        if name != fault.name:
            continue
        lines = source.splitlines(keepends=True)
        decorators = getattr(node, "decorator_list", [])
        start = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
        if fault.action == "delete":
            lines[start : node.end_lineno] = [b"pass\n"]
        else:
            pattern = re.compile(rb"\b%s\b" % name.encode())
            lines[node.lineno - 1] = pattern.sub(
                b"renamed_%s" % name.encode(), lines[node.lineno - 1], count=1
            )
        return b"".join(lines)
    return None


class Predictor:
    """What contract_guard says of the tree with one file replaced."""

    def __init__(self, facts: dict[str, ModuleFacts | Unreadable]) -> None:
        self._facts = facts
        self._known = self._broken(build(Tree(files=facts)))

    def failing(self, fault: Fault, source: bytes) -> set[str]:
        """Test modules that cannot be collected for a reason that was not there before."""
        registry = build(Tree(files={**self._facts, fault.path: extract(source)}))
        graph = ImportGraph(registry)
        broken = self._broken(registry) - self._known
        return {f.path for path, _, error in broken for f in graph.failures(path, error)}

    @staticmethod
    def _broken(registry: Registry) -> set[tuple[str, str, guards.Error]]:
        found: set[tuple[str, str, guards.Error]] = set()
        for path, facts in registry.facts():
            for imp in facts.imports:
                resolution = registry.resolve_import(path, imp)
                if resolution.status == "missing":
                    error: guards.Error = "ImportError"
                    if resolution.missing_module:
                        error = "ModuleNotFoundError"
                    elif imp.name == "*":
                        error = "AttributeError"
                    if guards.fatal_at_import(facts, imp.scope, imp.guard, error):
                        found.add((path, resolution.symbol, error))
            for use in facts.uses:
                if use.context == "load" and guards.fatal_at_import(
                    facts, use.scope, use.guard, "AttributeError"
                ):
                    resolution = registry.resolve_use(path, use)
                    if resolution.status == "missing":
                        found.add((path, resolution.symbol, "AttributeError"))
        return found


class FailOnce(MetaPathFinder):
    """Remembers modules that failed to import: they fail again at once, with the same error."""

    def __init__(self) -> None:
        self._failed: dict[str, BaseException] = {}
        self._paths = PathFinder()

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        if fullname in self._failed:
            raise self._failed[fullname].with_traceback(None)
        spec = PathFinder.find_spec(fullname, path, target)  # type: ignore[arg-type]
        if spec is not None and spec.loader is not None:
            spec.loader = _Watched(spec.loader, fullname, self._failed)  # type: ignore[assignment]
        return spec


class _Watched(Loader):
    def __init__(self, loader: Loader, name: str, failed: dict[str, BaseException]) -> None:
        self._loader, self._name, self._failed = loader, name, failed

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        try:
            self._loader.exec_module(module)
        except BaseException as error:
            self._failed[self._name] = error
            raise


def python_says(modules: Mapping[str, str], timeout: int = 300) -> dict[str, Answer]:
    """Import all test modules (path -> name) in a child; the paths that fail, and why."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _import_all(modules, writing, timeout)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    if not data:
        raise SystemExit("the child that imports the tests died")
    return {path: Answer(*answer) for path, answer in json.loads(data).items()}


def _import_all(modules: Mapping[str, str], writing: int, timeout: int) -> None:
    signal.alarm(timeout)
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, FailOnce())
    warnings.simplefilter("ignore")
    answers: dict[str, tuple[str, str]] = {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for path, name in modules.items():
            _forget_orphans()
            try:
                import_module(name)
            except BaseException as error:  # noqa: BLE001 - skips and exits are answers too
                if type(error).__name__ != "Skipped":
                    answers[path] = (type(error).__name__, str(error)[:200])
    with os.fdopen(writing, "w") as stream:
        json.dump(answers, stream)


def _imported_from_elsewhere(root: Path, paths: Iterable[str]) -> str:
    """A package of the copy that this process has from somewhere else, "" where there is none."""
    for directory in {parent for path in paths for parent in (root / path).parents}:
        module = sys.modules.get(directory.name)
        place = Path(getattr(module, "__file__", None) or directory)
        if (
            module is not None
            and (directory / "__init__.py").is_file()
            and root not in place.parents
        ):
            return directory.name
    return ""


def _forget_orphans() -> None:
    """Unload modules below a package that failed: each test is to be imported as if alone."""
    for name in list(sys.modules):
        if "." in name and name.rpartition(".")[0] not in sys.modules:
            for below in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
                del sys.modules[below]


def test_modules(registry: Registry, entries: list[str]) -> Iterator[tuple[str, str]]:
    """Paths of test modules with the names under which they are imported."""
    for path, _ in registry.facts():
        if registry.layout.is_test_module(path):
            below = [e for e in entries if e == "." or path.startswith(f"{e}/")]
            entry = max(below, key=len, default="")
            name = path.removesuffix(".py")
            if entry not in ("", "."):
                name = name.removeprefix(f"{entry}/")
            if below and all(part.isidentifier() for part in name.split("/")):
                yield path, name.replace("/", ".")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    entries: list[str] = arguments.path or ["."]
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / "copy"
        shutil.copytree(arguments.directory, root, ignore=shutil.ignore_patterns(".git"))
        for entry in reversed(entries):
            sys.path.insert(0, str(root / entry))
        for name in PRELOADED:
            with contextlib.suppress(ImportError):
                import_module(name)
        return compare(root, entries, arguments.count, arguments.seed, arguments.verbose)


def compare(root: Path, entries: list[str], count: int, seed: int, verbose: bool) -> int:
    started = time.perf_counter()
    gc.freeze()
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.py"))}
    facts = {path: extract(source) for path, source in files.items()}
    predictor = Predictor(facts)
    readable = {path: f for path, f in facts.items() if isinstance(f, ModuleFacts)}
    registry = build(Tree(files=facts))
    modules = dict(test_modules(registry, entries))
    before = python_says(modules)
    modules = {path: name for path, name in modules.items() if path not in before}
    print(f"{len(files)} files, {len(modules)} test modules, {len(before)} more cannot be imported")
    if len(before) > len(modules):
        why = "most of them cannot be imported"
    else:
        other = _imported_from_elsewhere(root, modules)
        why = f"{other} is imported from elsewhere" if other else ""
    if why:
        print(
            f"nothing to compare: {why}; run it where the tests' needs are installed, and no copy"
        )
        return 2
    totals: Counter[str] = Counter()
    for number, fault in enumerate(faults(files, readable, registry, count, seed)):
        source = planted(files[fault.path], fault)
        assert source is not None
        place = root / fault.path
        place.write_bytes(source)
        stamp = 1_000_000_000 + number  # bytecode is known by whole seconds and size
        os.utime(place, (stamp, stamp))
        truth = python_says(modules)
        place.write_bytes(files[fault.path])
        predicted = predictor.failing(fault, source) & modules.keys()
        crossing = {
            p
            for p, a in truth.items()
            if a.error in ("ImportError", "ModuleNotFoundError", "AttributeError")
        }
        missed, wrong = crossing - predicted, predicted - truth.keys()
        totals.update(
            faults=1,
            fatal=bool(crossing),
            own=bool(truth) and not crossing,
            crossing=len(crossing),
            found=len(crossing & predicted),
            wrong=len(wrong),
            whole=bool(crossing) and not missed and not wrong,
        )
        if missed or wrong or verbose:
            print(
                f"{fault}: {len(crossing)} fail, {len(missed)} missed, {len(wrong)} wrong",
                flush=True,
            )
            for path in sorted(missed)[:2]:
                print(f"    missed {path}: {truth[path].error}: {truth[path].text}")
            for path in sorted(wrong)[:2]:
                print(f"    wrong {path}")
    recall = totals["found"] / totals["crossing"] if totals["crossing"] else 1.0
    seconds = time.perf_counter() - started
    print(
        f"{totals['faults']} faults (seed {seed}): {totals['fatal']} break imports elsewhere, "
        f"{totals['whole']} of them told exactly; {totals['own']} break their own module alone\n"
        f"test modules: {totals['found']} of {totals['crossing']} found, recall {recall:.4f}; "
        f"{totals['wrong']} false alarms; {seconds:.0f} s"
    )
    return 0 if recall >= 0.99 and not totals["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
