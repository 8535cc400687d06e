"""Move or rename one definition in copies of packages, and let `diff HEAD --fix` mend who names it.

    python benchmarks/planted_moves.py DIR [DIR ...] [--count 10] [--seed 0] [--unsafe]

Each DIR is a package of pure Python that can be imported, with its tests. A fault moves a function,
class or constant that its own module does not use to another module of the same package (with the
imports that it needs), or renames a function, class, constant or method where it is defined, with
its uses in that module. Nobody else is told. Then `contract-guard diff HEAD --fix` runs.

Python judges: a child process imports every file that has the name, and looks up each reference in
it (a name in a `from` import, at whatever depth; a chain of attributes that begins at an imported
module). What led to the definition before the fault is a reference; afterwards it is

    mended   it leads to the definition, wherever that is now
    left     it does not, and the file says so in the same words as before, or was mended in part
    wrong    anything else: a file that no longer parses, an edit where there was no reference

Imports under `if TYPE_CHECKING:` never run, and are left alone. Faults that nobody is broken by are
left out. This runs the code of the package.
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

MOST_TRIES = 200  # of a kind in a package, nearly all of which nobody is broken by
JUDGE = '''
import ast, importlib, json, sys, types

sys.path.insert(0, ".")
home, name, wanted, *paths = sys.argv[1:]


def module_of(path):
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def held(dotted):
    """The value that a dotted text (`module:name.member`) leads to."""
    module, _, chain = dotted.partition(":")
    value = importlib.import_module(module)
    for part in chain.split("."):
        value = getattr(value, part)
    return value


def step(value, part):
    if isinstance(value, types.ModuleType) and not hasattr(value, part):
        return importlib.import_module(f"{value.__name__}.{part}")
    return getattr(value, part)


target = held(f"{home}:{name}")
word = name.rpartition(".")[2]
answer = {"led": [], "broken": []}


def tell(path, text, get):
    try:
        value = get()
    except Exception:
        answer["broken"].append([path, text])
    else:
        if value is target or (isinstance(value, types.MethodType) and value == target):
            answer["led"].append([path, text])


for path in paths:
    own = module_of(path)
    with open(path, "rb") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    roots, stored = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = own.split(".")
            if node.level:
                base = base[: len(base) - node.level + path.endswith("__init__.py")]
            module = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            for alias in node.names:
                if alias.name == "*":
                    continue
                get = lambda m=module, n=alias.name: step(importlib.import_module(m), n)
                if alias.name in wanted.split(","):
                    tell(path, f"from {module} import {alias.name}", get)
                roots.setdefault(alias.asname or alias.name, []).append(get)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name if alias.asname else alias.name.partition(".")[0]
                get = lambda whole=alias.name, m=first: (
                    importlib.import_module(whole), importlib.import_module(m))[1]
                roots.setdefault(alias.asname or first, []).append(get)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored.append(node.id)
        elif isinstance(node, ast.arg):
            stored.append(node.arg)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr not in wanted.split(","):
            continue
        chain, root = [], node
        while isinstance(root, ast.Attribute):
            chain.insert(0, root.attr)
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in roots or root.id in stored:
            continue
        try:
            value = roots[root.id][0]()
            for part in chain[:-1]:
                value = getattr(value, part)
        except Exception:
            answer["broken"].append([path, ast.unparse(node)])
            continue
        if isinstance(value, (types.ModuleType, type)):
            tell(path, ast.unparse(node), lambda: getattr(value, node.attr))
print("\\n" + json.dumps(answer))
'''


class Fault(NamedTuple):
    """`name` (`Class.member` for a method) of `module` becomes `new`, or goes to `to`."""

    kind: str
    module: str
    path: str
    name: str
    new: str
    to: str

    @property
    def word(self) -> str:
        return self.name.rpartition(".")[2]


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def distinctive(name: str) -> bool:
    return len(name) > 5 and not name.startswith("__") and not hasattr(builtins, name)


def renamed(name: str) -> str:
    """`f_of_x` becomes `x_f_of`, `SomeClass` becomes `SomeClassBase`."""
    if name != name.lower() and "_" not in name.strip("_"):
        return f"{name}Base"
    first, _, rest = name.strip("_").partition("_")
    swapped = f"{rest}_{first}" if rest and not rest[0].isdigit() else f"{name.strip('_')}_all"
    return ("_" if name.startswith("_") else "") + swapped


def faults(root: Path, package: str) -> Iterator[Fault]:
    """All that can be tried, by a name that one definition alone has."""
    texts = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted((root / package).rglob("*.py"))
    }
    defined = Counter[str]()
    for text in texts.values():
        defined.update(re.findall(r"^\s*(?:def|class) (\w+)", text, flags=re.M))
        defined.update(re.findall(r"^\s*(\w+)(?:: [^=\n]+)? = ", text, flags=re.M))
    for path, text in texts.items():
        module = module_of(path)
        if "test" in path or path.endswith("__init__.py") or path.rpartition("/")[2][0] == "_":
            continue
        beside = [
            other
            for other in texts
            if other != path
            and other.rpartition("/")[0] == path.rpartition("/")[0]
            and "test" not in other
            and other.rpartition("/")[2][0] != "_"
        ]
        for node in ast.parse(text).body:
            names: list[tuple[str, str]] = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.append(
                    ("function" if isinstance(node, ast.FunctionDef) else "class", node.name)
                )
            if isinstance(node, ast.ClassDef):
                members = (each for each in node.body if isinstance(each, ast.FunctionDef))
                names += [("method", f"{node.name}.{each.name}") for each in members]
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names.append(("constant", node.targets[0].id))
            for kind, name in names:
                last = name.rpartition(".")[2]
                if not distinctive(last) or defined[last] != 1:
                    continue
                yield Fault(f"renamed {kind}", module, path, name, renamed(last), module)
                if kind != "method":
                    fresh = f"{module.rpartition('.')[0]}.planted_home"
                    yield Fault(f"moved {kind}, new module", module, path, name, last, fresh)
                    for other in beside[:1]:
                        there = module_of(other)
                        yield Fault(f"moved {kind}, module there", module, path, name, last, there)


def plant(root: Path, fault: Fault) -> bool:
    """Make the change at the definition. False where it cannot be made."""
    place = root / fault.path
    text = place.read_text("utf-8")
    if fault.kind.startswith("renamed"):
        place.write_text(re.sub(rf"\b{fault.word}\b", fault.new, text), "utf-8")
        return True
    tree = ast.parse(text)
    (node,) = (n for n in tree.body if fault.name in bound(n))
    lines = text.splitlines(keepends=True)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    code = "".join(lines[first - 1 : node.end_lineno])
    rest = "".join([*lines[: first - 1], *lines[node.end_lineno or 0 :]])
    listed = re.compile(rf"""^[ \t]*["']{fault.name}["'],?[ \t]*\n""", flags=re.M)
    was_listed = bool(listed.search(rest))
    rest = listed.sub("", rest)
    if re.search(rf"\b{fault.name}\b", rest):
        return False
    needed = imports_for(tree, node, fault.module)
    if needed is None:
        return False
    target = root / (fault.to.replace(".", "/") + ".py")
    there = target.read_text("utf-8") if target.exists() else ""
    if there and (was_listed or re.search(rf"^__all__|\b{fault.name}\b", there, flags=re.M)):
        return False
    taken = {name for each in ast.parse(there).body for name in bound(each)}
    if any(name in taken for each in needed for name in bound(ast.parse(each).body[0])):
        return False
    head = "".join(f"{line}\n" for line in needed)
    place.write_text(rest, "utf-8")
    target.write_text(f"{there}\n\n{head}\n\n{code}" if there else f"{head}\n\n{code}", "utf-8")
    return True


def bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    return []


def imports_for(tree: ast.Module, node: ast.stmt, module: str) -> list[str] | None:
    """The imports that the definition needs elsewhere; None where it needs its own module."""
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)} | set(bound(node))
    free = {name for name in used - own if not hasattr(builtins, name)}
    found: list[str] = []
    for each in tree.body:
        if not isinstance(each, ast.Import | ast.ImportFrom):
            continue
        names = [a for a in each.names if (a.asname or a.name.partition(".")[0]) in free]
        if not names:
            continue
        free -= {a.asname or a.name.partition(".")[0] for a in names}
        if isinstance(each, ast.ImportFrom):
            base = module.split(".")[: -each.level] if each.level else []
            whole = ".".join([*base, *filter(None, [each.module])])
            found.append(ast.unparse(ast.ImportFrom(whole, names, 0)))
        else:
            found.append(ast.unparse(ast.Import(names)))
    return None if free else found


def python_says(
    root: Path, fault: Fault, home: str, name: str
) -> dict[str, list[list[str]]] | None:
    """The references of the files that have the word; None where the package is broken for good."""
    word = re.compile(rf"\b({fault.word}|{fault.new})\b".encode())
    paths = [
        path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*.py"))
        if word.search(path.read_bytes()) and path.name != "judge.py"
    ]
    (root / "judge.py").write_text(JUDGE)
    command = [sys.executable, "-B", "judge.py", home, name, f"{fault.word},{fault.new}", *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    (root / "judge.py").unlink()
    try:
        return json.loads(done.stdout.strip().rpartition("\n")[2])
    except ValueError:
        return None


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.autocrlf=false")
    command = ["git", *who, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def try_fault(root: Path, fault: Fault, unsafe: bool, cache: Path) -> Counter[str]:
    """Verdicts on the references; empty for a fault that breaks nobody."""
    if not plant(root, fault):
        return Counter()
    put_back(root)
    before = python_says(root, fault, fault.module, fault.name)
    stale = [each for each in before["led"] if each[0] != fault.path] if before else []
    if not stale:
        return Counter()
    plant(root, fault)
    new = fault.name[: -len(fault.word)] + fault.new
    planted = set(git(root, "status", "--porcelain", "--no-renames").split()[1::2])
    texts = {p: (root / p).read_text("utf-8") for p in {path for path, _ in stale}}
    git(root, "add", "--all")
    command = [sys.executable, "-m", "contract_guard", "diff", "HEAD", "--fix"]
    command += ["--unsafe-fixes"] if unsafe else []
    done = subprocess.run(
        [*command, "--cache-dir", str(cache)], cwd=root, capture_output=True, text=True, check=False
    )
    changed = set(git(root, "diff", "--name-only").split())
    after = python_says(root, fault, fault.to, new)
    verdicts = Counter[str]()
    was, now = by_path(stale), by_path(after["led"] if after else [])
    broken = by_path(after["broken"] if after else stale)
    for path, number in was.items():
        # An import may take the place of several attributes.
        mended = number if now[path] and not broken[path] else min(number, now[path])
        is_same = (root / path).read_text("utf-8") == texts[path]
        verdicts["mended"] += mended
        if number > mended:
            verdicts["left" if is_same or broken[path] else "wrong"] += number - mended
    verdicts["wrong"] += len(changed - was.keys() - planted)
    verdicts["wrong"] += done.returncode == 2
    verdicts["broken package"] += after is None and not verdicts["left"]
    if verdicts["wrong"] or verdicts["left"]:
        print(f"    {fault.kind}: {fault.module}:{fault.name} -> {fault.to}:{new} {dict(verdicts)}")
        print(f"        {sorted(changed - was.keys() - planted)} {stale[:3]}")
        for line in done.stderr.splitlines():
            print(f"        {line}")
    return +verdicts


def put_back(root: Path) -> None:
    git(root, "reset", "--quiet", "--hard")
    git(root, "clean", "--quiet", "--force", "-d")


def by_path(references: list[list[str]]) -> Counter[str]:
    return Counter(path for path, _ in references)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("packages", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=10, help="faults of a kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unsafe", action="store_true")
    arguments = parser.parse_args()
    everything = Counter[str]()
    for original in arguments.packages:
        totals: dict[str, Counter[str]] = {}
        with tempfile.TemporaryDirectory() as directory:
            root, cache = Path(directory) / "copy", Path(directory) / "cache"
            ignored = shutil.ignore_patterns(".git", "*.pyc", "*.so")
            shutil.copytree(original, root / original.name, ignore=ignored)
            (root / "pyproject.toml").write_text("[tool.contract_guard]\n")
            git(root, "init", "--quiet")
            git(root, "add", "--all")
            git(root, "commit", "--quiet", "--message", "as it is")
            tries = Counter[str]()
            found = list(faults(root, original.name))
            random.Random(arguments.seed).shuffle(found)
            for fault in found:
                counts = totals.setdefault(fault.kind, Counter())
                tries[fault.kind] += 1
                if counts["faults"] >= arguments.count or tries[fault.kind] > MOST_TRIES:
                    continue
                verdicts = try_fault(root, fault, arguments.unsafe, cache)
                put_back(root)
                if verdicts:
                    counts += verdicts + Counter({"faults": 1})
                    totals[fault.kind] = counts
            for kind, counts in sorted(totals.items()):
                print(f"{original.name}: {kind}: {dict(counts)}", flush=True)
                everything += counts
    print(f"all: {dict(everything)}")
    return 1 if everything["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
