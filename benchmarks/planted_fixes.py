"""Rename what tests patch in copies of packages, and let `diff HEAD~1 --fix` mend the patches.

    python benchmarks/planted_fixes.py DIR [DIR ...] [--count 10] [--seed 0] [--unsafe]

Each DIR is a package of pure Python that can be imported. A fault renames one function, class,
constant, method or module with all its uses in the package (names that nothing else in it has), or
moves a function to a new module. Before it a test file is committed that patches the name in every
form; after it, `contract-guard diff HEAD~1 --fix` runs. Then each patch is made in a child
process. A patch is

    mended     it works, and the file is, byte for byte, as if the rename had been made there too
               (with a move: it works, and other lines than those of patches are the same bytes)
    left       it fails as before, and the file's bytes at it are the same
    wrong      anything else

Faults after which the package cannot be imported are left out. This runs the code of the package.
"""

import argparse
import ast
import builtins
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TEST = "tests/test_planted.py"
RUNNER = """
import importlib.util, json, sys
from unittest import mock
import pytest
sys.path.insert(0, ".")
spec = importlib.util.spec_from_file_location("planted", sys.argv[1])
answers = {}
try:
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
except Exception as error:
    answers["import"] = repr(error)
else:
    for name, test in vars(module).items():
        if name.startswith("test_"):
            with pytest.MonkeyPatch.context() as monkeypatch:
                try:
                    test(monkeypatch)
                    answers[name] = ""
                except Exception as error:
                    answers[name] = repr(error)
print("\\n" + json.dumps(answers))
"""


class Fault(NamedTuple):
    """`old` becomes `new`; with "move", `new` is the module that the function goes to. `holder` is
    the dotted module or class, `name` what is patched in it."""

    kind: str
    old: str
    new: str
    module: str
    holder: str
    name: str
    path: str


def distinctive(name: str) -> bool:
    return "_" in name.strip("_") and not name.startswith("__") and not hasattr(builtins, name)


def faults(root: Path, package: str) -> Iterator[Fault]:
    texts = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted((root / package).rglob("*.py"))
    }
    defined = Counter[str]()
    found: list[Fault] = []
    for path, text in texts.items():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        is_test = "test" in path or not all(p.isidentifier() for p in module.split("."))
        tree = ast.parse(text)
        last = module.rpartition(".")[2]
        defined[last] += 1
        first = ""
        for node in ast.walk(tree):
            bound = getattr(node, "name", None) or getattr(node, "attr", None)
            if isinstance(node, ast.Name | ast.arg):
                bound = node.id if isinstance(node, ast.Name) else node.arg
            if isinstance(node, ast.FunctionDef | ast.ClassDef) or (
                isinstance(node, ast.Name | ast.Attribute | ast.arg)
                and not isinstance(getattr(node, "ctx", None), ast.Load)
            ):
                defined[str(bound)] += 1
        for node in tree.body if not is_test else []:
            names: list[tuple[str, str, str]] = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                kind = "function" if isinstance(node, ast.FunctionDef) else "class"
                names.append((kind, "", node.name))
            if isinstance(node, ast.ClassDef):
                members = (each for each in node.body if isinstance(each, ast.FunctionDef))
                names += [("method", f".{node.name}", each.name) for each in members]
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names.append(("constant", "", node.targets[0].id))
            for kind, class_, name in names:
                fault = Fault(kind, name, renamed(name), module, module + class_, name, path)
                found.append(fault)
                if kind == "function":
                    first = first or name
                    home = f"{module.rpartition('.')[0] or module}.planted_home"
                    found.append(fault._replace(kind="move", new=home))
        if first and not path.endswith("__init__.py"):
            found.append(Fault("module", last, renamed(last), module, module, first, path))
    for fault in found:
        is_class = fault.kind == "class" and len(fault.old) > 6
        if defined[fault.old] == 1 and (distinctive(fault.old) or is_class):
            yield fault


def renamed(name: str) -> str:
    if name != name.lower() and "_" not in name.strip("_"):
        return f"{name}Base"
    first, _, rest = name.strip("_").partition("_")
    swapped = f"{rest}_{first}" if rest and not rest[0].isdigit() else f"{name}_all"
    return ("_" if name.startswith("_") else "") + swapped


def test_file(fault: Fault) -> str:
    patched = fault.holder + "." + fault.name
    parent, _, last = fault.module.rpartition(".")
    below = patched.removeprefix(f"{fault.module}.")
    inner = "".join(
        f".{each}" for each in fault.holder.removeprefix(fault.module).split(".") if each
    )
    forms = [
        f'mock.patch("{patched}")',
        f"mock.patch('{patched}', None)",
        f'mock.patch(f"{{MODULE}}.{below}")',
        f'mock.patch(MODULE + ".{below}")',
        "mock.patch(TARGET)",
        f'mock.patch.object(holder{inner}, "{fault.name}")',
        f'mock.patch.object({last}{inner}, attribute="{fault.name}")',
        f'mock.patch.multiple("{fault.holder}", {fault.name}=None)',
        f'kept(monkeypatch.setattr("{patched}", None))',
        f'kept(monkeypatch.delattr(holder{inner}, "{fault.name}"))',
    ]
    lines = ["from contextlib import nullcontext as kept", "from unittest import mock", ""]
    lines += [f"import {fault.module} as holder", f"from {parent} import {last}", ""]
    lines += [f'MODULE = "{fault.module}"', f'TARGET = "{patched}"', "", ""]
    for number, form in enumerate(forms):
        lines += [
            f"def test_{number}(monkeypatch):",
            f"    with {form}:  # {number}",
            "        pass",
        ]
        lines += ["", ""]
    return "\n".join(lines).rstrip() + "\n"


def plant(root: Path, package: str, fault: Fault) -> bool:
    """Whether it could be."""
    if fault.kind == "move":
        return move(root, package, fault)
    for path in sorted((root / package).rglob("*.py*")):
        if path.suffix in (".py", ".pyi"):
            text = path.read_bytes()
            path.write_bytes(word(fault.old).sub(fault.new.encode(), text))
    if fault.kind == "module":
        place = root / fault.path
        place.rename(place.with_name(f"{fault.new}.py"))
    return True


def word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b%s\b" % name.encode())


def move(root: Path, package: str, fault: Fault) -> bool:
    """A function that needs nothing of its module, and that only other modules use."""
    place = root / fault.path
    text = place.read_text("utf-8")
    (node,) = (n for n in ast.parse(text).body if getattr(n, "name", "") == fault.name)
    assert isinstance(node, ast.FunctionDef)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    free = [name for name in used - own if not hasattr(builtins, name)]
    if free or node.decorator_list or len(word(fault.name).findall(text.encode())) != 1:
        return False
    lines = text.splitlines(keepends=True)
    code = "".join(lines[node.lineno - 1 : node.end_lineno])
    importers = 0
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_text("utf-8")
        if path == place or not word(fault.name).search(source.encode()):
            continue
        rows = source.splitlines(keepends=True)
        for each in reversed([n for n in ast.walk(ast.parse(source)) if is_import(n, fault.name)]):
            assert isinstance(each, ast.ImportFrom)
            indent = " " * each.col_offset
            taken = [alias for alias in each.names if alias.name == fault.name]
            each.names = [alias for alias in each.names if alias.name != fault.name]
            new = [ast.unparse(ast.ImportFrom(fault.new, taken, 0))]
            new += [ast.unparse(each)] if each.names else []
            rows[each.lineno - 1 : each.end_lineno] = [f"{indent}{line}\n" for line in new]
            importers += 1
        path.write_text("".join(rows), "utf-8")
    del lines[node.lineno - 1 : node.end_lineno]
    place.write_text("".join(lines), "utf-8")
    (root / (fault.new.replace(".", "/") + ".py")).write_text(code, "utf-8")
    return importers > 0


def is_import(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names)


def python_says(root: Path, test: str) -> dict[str, str]:
    """The error of each test, "" for none."""
    (root / "run_planted.py").write_text(RUNNER)
    command = [sys.executable, "-B", "run_planted.py", test]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    (root / "run_planted.py").unlink()
    try:
        return json.loads(done.stdout.strip().rpartition("\n")[2])
    except ValueError:
        return {"import": done.stderr[-200:]}


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.autocrlf=false")
    command = ["git", *who, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def try_fault(root: Path, package: str, fault: Fault, unsafe: bool, cache: Path) -> Counter[str]:
    """Verdicts on the patches; empty for a fault that says nothing."""
    test = root / TEST
    before = test_file(fault)
    test.write_text(before, "utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "before")
    is_whole = not any(python_says(root, TEST).values())
    if not is_whole or not plant(root, package, fault):
        return Counter()
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "after")
    wanted = before
    if fault.kind != "move":
        wanted = word(fault.old).sub(fault.new.encode(), before.encode()).decode()
        test.write_text(wanted, "utf-8")
        if any(python_says(root, TEST).values()):
            return Counter()
        test.write_text(before, "utf-8")
    stale = python_says(root, TEST)
    command = [sys.executable, "-m", "contract_guard", "diff", "HEAD~1", "--fix"]
    command += ["--unsafe-fixes"] if unsafe else []
    done = subprocess.run(
        [*command, "--cache-dir", str(cache)], cwd=root, capture_output=True, text=True, check=False
    )
    changed = git(root, "diff", "--name-only").split()
    after = test.read_text("utf-8")
    verdicts = judged(fault, before, wanted, after, stale, python_says(root, TEST))
    if set(changed) - {TEST} or done.returncode == 2:
        verdicts["wrong"] += 1
    if verdicts["wrong"] or verdicts["left"]:
        print(f"    {fault.kind} {fault.holder}.{fault.name} -> {fault.new}: {dict(verdicts)}")
        for line in done.stderr.splitlines():
            print(f"        {line}")
    return verdicts


def judged(
    fault: Fault,
    before: str,
    wanted: str,
    after: str,
    stale: dict[str, str],
    now: dict[str, str],
) -> Counter[str]:
    verdicts = Counter[str]()
    lines = [text.split("\n") for text in (before, wanted, after)]
    if len(lines[2]) == len(lines[0]):
        rest = [i for i, line in enumerate(lines[0]) if not re.search(r"# \d+$", line)]
        targets = [i for i in rest if re.match(r"(MODULE|TARGET) =|import|from", lines[0][i])]
        if any(lines[2][i] != lines[0][i] for i in set(rest) - set(targets)):
            verdicts["wrong"] += 1
    elif fault.kind != "move":
        verdicts["wrong"] += 1
    tests = re.findall(r"^def (test_\d+)", before, flags=re.M)
    for name in tests:
        was, is_ = stale.get(name, stale.get("import", "")), now.get(name, now.get("import", ""))
        number = name.removeprefix("test_")
        old, right, new = (
            next((x for x in each if x.endswith(f"# {number}")), "") for each in lines
        )
        if not was:
            verdicts["worked" if not is_ else "wrong"] += 1
        elif is_:
            verdicts["left" if new == old else "wrong"] += 1
        elif fault.kind == "move" or new == right:
            verdicts["mended"] += 1
        else:
            verdicts["mended, other text"] += 1
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("packages", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unsafe", action="store_true")
    arguments = parser.parse_args()
    everything = Counter[str]()
    for original in arguments.packages:
        totals = Counter[str]()
        with tempfile.TemporaryDirectory() as directory:
            root, cache = Path(directory) / "copy", Path(directory) / "cache"
            ignored = shutil.ignore_patterns(".git", "*.pyc")
            shutil.copytree(original, root / original.name, ignore=ignored)
            (root / "tests").mkdir()
            (root / "pyproject.toml").write_text("[tool.contract_guard]\n")
            git(root, "init", "--quiet")
            git(root, "add", "--all")
            git(root, "commit", "--quiet", "--message", "first")
            chooser = random.Random(arguments.seed)
            known = list(faults(root, original.name))
            by_kind = {
                k: [f for f in known if f.kind == k] for k in sorted({f.kind for f in known})
            }
            for each in by_kind.values():
                chooser.shuffle(each)
            planted = 0
            while planted < arguments.count and any(by_kind.values()):
                kind = chooser.choice([k for k, left in by_kind.items() if left])
                verdicts = try_fault(
                    root, original.name, by_kind[kind].pop(), arguments.unsafe, cache
                )
                git(root, "reset", "--quiet", "--hard", git(root, "rev-list", "HEAD").split()[-1])
                git(root, "clean", "--quiet", "-fd")
                (root / "tests").mkdir(exist_ok=True)
                if verdicts:
                    planted += 1
                    totals += Counter({f"{kind}: {v}": n for v, n in verdicts.items()})
                    totals[f"{kind}: faults"] += 1
            print(f"{original.name}: {dict(sorted(totals.items()))}", flush=True)
            everything += totals
    for what, count in sorted(everything.items()):
        print(f"{what} {count}")
    return 1 if any("wrong" in what for what in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
