"""Mirrors planted in tests of real functions, and oracles of other kinds for the same functions.

    python benchmarks/planted_mirrors.py PACKAGE... [--count 100] [--seed 0]

Each PACKAGE is the directory of an installed package. `--count` functions are drawn from all of
them, in proportion: functions that compute their result in a straight line from their arguments,
with nothing of the package but its constants. For each, a test is written for every disguise of a
copy below, and one for every kind of independent oracle. The tests are analysed among the files of
the package, nothing is run. Prints how many copies are found by disguise (of those that the
disguise changes), and how many oracles are flagged by kind, with 95% Wilson intervals.
"""

import argparse
import ast
import builtins
import gc
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mirrors import is_test, wilson

from contract_guard.facts.model import Unreadable
from contract_guard.facts.reader import read as read_source
from contract_guard.mirrors.copies import copy_of
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.operations import COMPUTING, words
from contract_guard.mirrors.search import Search

_OPERATIONS = 4  # that compute, for a function to be drawn
_LIBRARIES = frozenset({"np", "numpy", "math", "torch", "F", "xp"})
_METHODS = words(
    """sum mean max min prod std var cumsum argmax argmin reshape ravel transpose dot sqrt exp log
    abs clip round sort argsort any all diagonal trace squeeze repeat"""
)
_RECEIVERS = _METHODS - {"sqrt", "exp", "log", "abs", "sort"}


@dataclass(frozen=True)
class Function:
    """A production function that can be copied: `arguments` are its parameters, `body` its
    statements without docstring and return, `result` the expression returned."""

    package: str
    module: str
    path: str
    name: str
    arguments: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    result: ast.expr
    imports: str


Disguise = Callable[[Function, random.Random], str | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("packages", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    gc.disable()
    started = time.process_time()
    sources = {package.name: read(package) for package in arguments.packages}
    candidates = [f for name, texts in sources.items() for f in functions(name, texts)]
    chosen = random.Random(arguments.seed).sample(candidates, min(arguments.count, len(candidates)))
    print(f"{len(chosen)} of {len(candidates)} functions of {', '.join(sources)}")
    found: dict[str, list[str]] = {}
    for package, texts in sources.items():
        tests: dict[str, tuple[Function, str]] = {}
        for number, function in enumerate(f for f in chosen if f.package == package):
            chance = random.Random(number)
            for kind, write in {**COPIES, **ORACLES}.items():
                text = write(function, chance)
                if text is not None:
                    path = f"tests/test_{kind.replace(' ', '_')}_{number}.py"
                    tests[path] = function, text
        for path, verdict in analysed(texts, tests):
            kind = re.sub(r"_\d+\.py$", "", path.removeprefix("tests/test_")).replace("_", " ")
            found.setdefault(kind, []).append(verdict)
    print(f"{time.process_time() - started:.0f} s of processor time\n")
    show("copies found", [k for k in COPIES if k in found], found)
    show("oracles flagged", [k for k in ORACLES if k in found], found)


def show(title: str, kinds: list[str], found: dict[str, list[str]]) -> None:
    print(f"{title:32} flagged            of these notes   at the place")
    rows = [(kind, found[kind]) for kind in kinds]
    for kind, verdicts in [*rows, ("all", [v for _, each in rows for v in each])]:
        flagged = sum(verdict != "" for verdict in verdicts)
        notes = sum(verdict.startswith("note") for verdict in verdicts)
        right = sum(verdict.endswith("right") for verdict in verdicts)
        low, high = wilson(flagged, len(verdicts))
        share = flagged / max(len(verdicts), 1)
        interval = f"[{low:.2f}, {high:.2f}]"
        print(
            f"  {kind:30} {flagged:3}/{len(verdicts):<4} {share:.2f} {interval} {notes:4} {right:4}"
        )
    print()


def read(package: Path) -> dict[str, str]:
    """The text of each file that parses, by path."""
    texts: dict[str, str] = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package.parent).as_posix()
        if path.is_file() and not is_test(name):
            found = read_source(path.read_bytes())
            if not isinstance(found, Unreadable):
                texts[name] = found[0].text
    return texts


def analysed(
    texts: dict[str, str], tests: dict[str, tuple[Function, str]]
) -> Iterator[tuple[str, str]]:
    """The verdict on each test: "" or "warning"/"note", with " right" at the planted place."""
    every = {**texts, **{path: text for path, (_, text) in tests.items()}}
    files = {path: file_fragments(ast.parse(text)) for path, text in every.items()}
    search = Search(files, frozenset(tests), every.__getitem__)
    for path, (function, _) in tests.items():
        copies = [
            copy
            for test in search.tests_of(path)
            for found in search.resemblances(path, test)
            if (copy := copy_of(found)) is not None
        ]
        if not copies:
            yield path, ""
            continue
        right = any(
            c.production.path == function.path
            and c.production.qualname.split(".")[-1] == function.name
            for c in copies
        )
        kind = "note" if all(c.is_slight for c in copies) else "warning"
        yield path, f"{kind} right" if right else kind


# Functions


def functions(package: str, texts: dict[str, str]) -> Iterator[Function]:
    for path, text in texts.items():
        tree = ast.parse(text)
        constants = {
            t.id for s in tree.body if isinstance(s, ast.Assign) for t in s.targets
            if isinstance(t, ast.Name)
        }  # fmt: skip
        modules = {
            alias.asname or alias.name.split(".")[0]: ast.unparse(s)
            for s in tree.body
            if isinstance(s, (ast.Import, ast.ImportFrom))
            for alias in s.names
        }
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                function = _function(node, package, module, path, constants, modules)
                if function is not None:
                    yield function


def _function(
    node: ast.FunctionDef,
    package: str,
    module: str,
    path: str,
    constants: set[str],
    modules: dict[str, str],
) -> Function | None:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    spec = node.args
    if node.decorator_list or spec.vararg or spec.kwarg or spec.kwonlyargs or not spec.args:
        return None
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return None
    if not all(isinstance(s, (ast.Assign, ast.AugAssign)) for s in body[:-1]):
        return None
    whole = ast.Module(list(body), [])
    forbidden = (ast.Lambda, ast.Yield, ast.Await, ast.NamedExpr, ast.comprehension)
    if any(isinstance(n, forbidden) for n in ast.walk(whole)):
        return None
    if sum(_computes(n) for n in ast.walk(whole)) < _OPERATIONS:
        return None
    names = tuple(a.arg for a in spec.args)
    free = _free_names(whole) - set(names)
    imports = [f"from {module} import {node.name}"]
    for name in sorted(free - set(dir(builtins))):
        if name in constants:
            imports.append(f"from {module} import {name}")
        elif name in _LIBRARIES and name in modules and not modules[name].startswith("from ."):
            imports.append(modules[name])
        else:
            return None
    return Function(
        package,
        module,
        path,
        node.name,
        names,
        tuple(body[:-1]),
        body[-1].value,
        "\n".join(dict.fromkeys(imports)),
    )


def _computes(node: ast.AST) -> bool:
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    return name in COMPUTING


def _free_names(node: ast.AST) -> set[str]:
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return {n.id for n in names} - bound


# Copies


def written(function: Function, tree: ast.Module, arguments: tuple[str, ...]) -> str:
    """A test that computes the result of `tree` (ending in `expected = ...`) and compares."""
    given = ", ".join(arguments)
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    body = "\n".join(f"    {line}" for line in lines)
    return (
        f"{function.imports}\n\n\ndef test_{function.name}({given}):\n{body}\n"
        f"    assert {function.name}({given}) == expected\n"
    )


def _copied(function: Function) -> ast.Module:
    """The body with its result as `expected`. Parameters that it binds anew are copied first:
    production is called with what the test was given."""
    target: list[ast.expr] = [ast.Name("expected", ast.Store())]
    statements = [*function.body, ast.Assign(target, function.result, lineno=1)]
    tree = ast.parse(ast.unparse(ast.Module(statements, [])))
    stored = {_root(n) for n in ast.walk(tree) if isinstance(getattr(n, "ctx", None), ast.Store)}
    rebound = [name for name in function.arguments if name in stored]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in rebound:
            node.id = f"own_{node.id}"
    first = ast.parse("".join(f"own_{name} = {name}\n" for name in rebound))
    return ast.Module([*first.body, *tree.body], [])


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def verbatim(function: Function, chance: random.Random) -> str | None:
    return written(function, _copied(function), function.arguments)


def renamed(function: Function, chance: random.Random) -> str | None:
    tree = _copied(function)
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    own = sorted((names - _free_names(tree)) | set(function.arguments))
    chance.shuffle(own)
    table = {name: f"v{number}" for number, name in enumerate(own) if name != "expected"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = table.get(node.id, node.id)
    return written(function, tree, tuple(table[a] for a in function.arguments))


def _changed(function: Function, transformer: ast.NodeTransformer) -> str | None:
    tree = _copied(function)
    before = ast.dump(tree)
    tree = transformer.visit(tree)
    return None if ast.dump(tree) == before else written(function, tree, function.arguments)


class _Reorder(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Add, ast.Mult)) and not _is_text(node):
            node.left, node.right = node.right, node.left
        return node


class _Swap(ast.NodeTransformer):
    """`np.sum(x)` to `x.sum()` and back."""

    def __init__(self, library: str | None) -> None:
        self.library = library

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute):
            return node
        owner, name = node.func.value, node.func.attr
        is_library = isinstance(owner, ast.Name) and owner.id in _LIBRARIES
        if is_library and name in _RECEIVERS and node.args:
            node.func = ast.Attribute(node.args[0], name, ast.Load())
            node.args = node.args[1:]
        elif not is_library and self.library and name in _METHODS:
            node.func = ast.Attribute(ast.Name(self.library, ast.Load()), name, ast.Load())
            node.args = [owner, *node.args]
        return node


class _Fold(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        sides = [n.value for n in (node.left, node.right) if isinstance(n, ast.Constant)]
        numbers = [v for v in sides if isinstance(v, (int, float)) and not isinstance(v, bool)]
        if len(numbers) == 2 and not isinstance(node.op, ast.Pow):
            code = compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval")
            return ast.Constant(eval(code))
        return node


class _Unfold(ast.NodeTransformer):
    """8 becomes `2 * 4`, 0.5 becomes `1 / 2`, 7 becomes `6 + 1`."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if isinstance(value, float) and 0 < value < 1 and (1 / value).is_integer():
            return ast.BinOp(ast.Constant(1), ast.Div(), ast.Constant(int(1 / value)))
        if type(value) is not int or value < 3:
            return node
        if value % 2 == 0:
            return ast.BinOp(ast.Constant(2), ast.Mult(), ast.Constant(value // 2))
        return ast.BinOp(ast.Constant(value - 1), ast.Add(), ast.Constant(1))


class _Split(ast.NodeTransformer):
    """Every operand that is itself an operation gets a name of its own."""

    def __init__(self) -> None:
        self.before: list[ast.stmt] = []
        self.count = 0

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self.before = []
        node.value = self.visit(node.value)
        return [*self.before, node]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        node.left, node.right = self._named(node.left), self._named(node.right)
        return node

    def _named(self, value: ast.expr) -> ast.expr:
        if not isinstance(value, (ast.BinOp, ast.Call)):
            return value
        self.count += 1
        name = f"part{self.count}"
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=1))
        return ast.Name(name, ast.Load())


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in ast.walk(node)
    )


def reordered(function: Function, chance: random.Random) -> str | None:
    return _changed(function, _Reorder())


def swapped(function: Function, chance: random.Random) -> str | None:
    bound = (_free_names(_copied(function)) & _LIBRARIES) - {"math"}
    return _changed(function, _Swap(min(bound, default=None)))


def folded(function: Function, chance: random.Random) -> str | None:
    try:
        return _changed(function, _Fold())
    except ArithmeticError:
        return None


def unfolded(function: Function, chance: random.Random) -> str | None:
    return _changed(function, _Unfold())


def split(function: Function, chance: random.Random) -> str | None:
    return _changed(function, _Split())


def extracted(function: Function, chance: random.Random) -> str | None:
    given = ", ".join(function.arguments)
    tree = _copied(function)
    lines = [f"    {line}" for line in ast.unparse(tree).splitlines()]
    return (
        f"{function.imports}\n\n\ndef reference({given}):\n" + "\n".join(lines)
        + f"\n    return expected\n\n\ndef test_{function.name}({given}):\n"
        f"    assert {function.name}({given}) == reference({given})\n"
    )  # fmt: skip


def everything(function: Function, chance: random.Random) -> str | None:
    """Renamed, reordered, methods and functions swapped, numbers unfolded."""
    text = renamed(function, chance)
    assert text is not None
    bound = (_free_names(_copied(function)) & _LIBRARIES) - {"math"}
    tree = ast.parse(text)
    for step in (_Reorder(), _Swap(min(bound, default=None)), _Unfold()):
        tree = step.visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


COPIES: dict[str, Disguise] = {
    "verbatim": verbatim,
    "renamed locals": renamed,
    "operands reordered": reordered,
    "methods and functions swapped": swapped,
    "numbers folded": folded,
    "numbers unfolded": unfolded,
    "steps named": split,
    "helper extracted": extracted,
    "all together": everything,
}


# Oracles


def _oracle(function: Function, lines: str, extra: str = "") -> str:
    given = ", ".join(function.arguments)
    call = f"{function.name}({given})"
    text = lines.format(call=call, name=function.name, first=function.arguments[0], given=given)
    body = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{extra}{function.imports}\n\n\ndef test_{function.name}({given}):\n{body}\n"


def literal(function: Function, chance: random.Random) -> str | None:
    values = ", ".join(str(chance.randint(1, 9)) for _ in function.arguments)
    return _oracle(function, f"assert {{name}}({values}) == {chance.uniform(0, 100):.6f}")


def library(function: Function, chance: random.Random) -> str | None:
    lines = "expected = special.{name}({given})\nassert abs({call} - expected).max() < 1e-6"
    return _oracle(function, lines, "from scipy import special\n")


def linear(function: Function, chance: random.Random) -> str | None:
    return _oracle(function, "twice = {call} * 2\nassert abs(twice - {call} - {call}) < 1e-9")


def bounded(function: Function, chance: random.Random) -> str | None:
    return _oracle(function, "result = {call}\nassert (result >= 0).all()\n"
                             "assert result.shape == {first}.shape")  # fmt: skip


def inverse(function: Function, chance: random.Random) -> str | None:
    lines = "restored = invert({call})\nassert abs(restored - {first}).max() < 1e-6"
    return _oracle(function, lines, f"from {function.package} import invert\n")


def brute_force(function: Function, chance: random.Random) -> str | None:
    lines = (
        "expected = []\nfor one in {first}:\n    best = None\n    for other in {first}:\n"
        "        if best is None or other < best:\n            best = other\n"
        "    expected.append(best)\nassert list({call}) == expected"
    )
    return _oracle(function, lines)


def closed_form(function: Function, chance: random.Random) -> str | None:
    lines = "n = len({first})\nassert {call} == n * (n + 1) / 2"
    return _oracle(function, lines)


ORACLES: dict[str, Disguise] = {
    "literal": literal,
    "library": library,
    "linearity": linear,
    "bounds and shape": bounded,
    "round trip": inverse,
    "brute force": brute_force,
    "closed form": closed_form,
}


if __name__ == "__main__":
    main()
