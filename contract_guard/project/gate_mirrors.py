"""Mirrored expectations of test files: lifted, bound and shown. The files are read, never run."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from contract_guard.errors import UserError
from contract_guard.gates.boundaries import of_sources
from contract_guard.mirrors.model import UNRESOLVED, Const, OracleSlice, Reference
from contract_guard.mirrors.slice import lift
from contract_guard.project.gate_files import gate_tables, read_text

# Sizes of tensors that the test makes at random, where nothing says how large.
EXPERTS, TOP_K, HIDDEN, TOKENS = 8, 2, 16, 4
# What the test draws at random is drawn so often, and parametrized numbers multiply that.
DRAWS, MOST_BATCHES = 8, 64
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "eq": "==", "ne": "!=",
             "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "bitand": "&", "bitor": "|"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LiftedMirror:
    """A lifted expectation as text for a worker; `problem` says why it cannot be run, if so."""

    name: str
    text: str
    fingerprint: str
    problem: str = ""


def lifted_mirror(root: Path, table: Mapping[str, object]) -> LiftedMirror:
    """The mirror of a configured gate: `mirror = "tests/test_x.py::test_y"`, or the name of a
    .json file that `gate mirror --format json` wrote. Raises UserError."""
    from contract_guard.gates.interpret import CannotLift
    from contract_guard.gates.mirror import slice_from_json, slice_to_json

    name = str(table["mirror"])
    if name.endswith(".json"):
        text = read_text(root / name)
        try:
            return LiftedMirror(name, text, slice_from_json(text).fingerprint)
        except CannotLift as error:
            raise UserError(f"{name}: {error}") from error
    lifted = lift_test(root, name)
    problem = f"cannot be lifted: {', '.join(lifted.refused)}" if lifted.refused else ""
    return LiftedMirror(name, slice_to_json(lifted), lifted.fingerprint, problem)


def lift_test(root: Path, test: str) -> OracleSlice:
    """The slice of `path::test`. Raises UserError, with the tests there are."""
    path, separator, _ = test.partition("::")
    if not separator:
        raise UserError(f"{test}: name a test, as in tests/test_x.py::test_y")
    source = read_text(root / path)
    try:
        return lift(source, test)
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno}: {error.msg}") from error
    except LookupError as error:
        raise UserError(f"{test}: no such test in {path}") from error


def mirror_report(
    root: Path, test: str, gate_name: str | None, format: str, with_inputs: bool
) -> tuple[str, bool]:
    """The text of `gate mirror`, and whether everything could be bound."""
    from contract_guard.gates.interpret import CannotLift, not_listed
    from contract_guard.gates.mirror import (
        bindings,
        outputs_of,
        slice_to_json,
        with_given_results,
    )

    lifted = lift_test(root, test)
    if format == "json":
        return slice_to_json(lifted) + "\n", True
    tables = gate_tables(root)
    if gate_name is not None and gate_name not in tables:
        known = ", ".join(tables) or "none"
        raise UserError(f"no gate {gate_name!r} is configured; there are: {known}")
    table = tables.get(gate_name or "", {})
    said = cast("Mapping[str, object]", table.get("bind", {}))
    expects = cast("Mapping[str, str]", table.get("expects", {}))
    lines = [
        test,
        *(f"  lines {r.start}-{r.end}" for r in lifted.ranges),
        "",
        *_program(lifted),
        "",
    ]
    bound = True
    try:
        outputs = outputs_of(lifted, expects)
        lifted = with_given_results(lifted, said)
    except CannotLift as error:
        lines.append(f"outputs: {error}")
        return "\n".join(lines) + "\n", False
    lines.append("outputs: " + ", ".join(f"{name} -> {role}" for role, name in outputs.items()))
    known_roles, unbound = bindings(lifted, said, outputs)
    for name, role in known_roles.items():
        lines.append(f"  {name} -> {role}")
    for name in unbound:
        lines.append(f"  {name} -> NOT BOUND: add it to bind, as a role or a value")
        bound = False
    for refusal in (*lifted.refused, *not_listed(lifted, tuple(outputs.values()))):
        lines.append(f"cannot be lifted: {refusal}")
        bound = False
    if with_inputs and bound:
        lines += ["", *_untold_lines(root, test, lifted, known_roles, outputs)]
    return "\n".join(lines) + "\n", bound


def static_constant(root: Path, symbol: str) -> object:
    """The value of `package.module:NAME`, read from its module-level assignment below the root or
    its `src`. Raises LookupError."""
    from contract_guard.gates.constants import assigned

    module, _, name = symbol.partition(":")
    for place in (root, root / "src"):
        base = place.joinpath(*module.split("."))
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return assigned(read_text(path), name)
    raise LookupError(symbol)


def _program(lifted: OracleSlice) -> Iterator[str]:
    """The slice as one line an operation."""

    def shown(reference: Reference) -> str:
        if isinstance(reference, int):
            return f"v{reference}"
        if isinstance(reference, str):
            return reference[1:]
        if reference.symbol is not None:
            return reference.symbol.rsplit(":", 1)[-1]
        return "UNRESOLVED" if reference.value is UNRESOLVED else repr(reference.value)

    for index, op in enumerate(lifted.ops):
        arguments = [shown(a) for a in op.arguments]
        if op.name in OPERATORS and len(arguments) == 2 and not op.keywords:
            text = f"{arguments[0]} {OPERATORS[op.name]} {arguments[1]}"
        else:
            arguments += [f"{name}={shown(value)}" for name, value in op.keywords]
            text = f"{op.name}({', '.join(arguments)})"
        yield f"  {op.line:>5}  v{index} = {text}"
    for name, reference in lifted.outputs:
        yield f"         {name} = {shown(reference)}"


def _untold_lines(
    root: Path,
    test: str,
    lifted: OracleSlice,
    roles: Mapping[str, object],
    outputs: Mapping[str, str],
) -> Iterator[str]:
    from contract_guard.gates.interpret import CannotLift
    from contract_guard.gates.mutants import mutants, untold

    def symbol(path: str) -> object:
        if path in roles:
            return roles[path]
        try:
            return static_constant(root, path)
        except LookupError as error:
            raise CannotLift(f"{path} is not known: add it to bind") from error

    source = read_text(root / test.partition("::")[0])
    literals = dict(_literal_tensors(source, test, symbol))
    ids = _near_ids(root, lifted)
    names = tuple(outputs.values())
    try:
        given = _batches(lifted, roles, literals, {})
        candidates = mutants(lifted, symbol, ids)
        # Ids of every kind: what makes no difference to these is no other rule.
        of_every_kind = [*ids, *(i for values in literals.values() for i in values)]
        rich = {name: of_every_kind for name, role in roles.items() if role == "input_ids"}
        same = untold(lifted, candidates, _batches(lifted, roles, literals, rich), symbol, names)
        candidates = [mutant for mutant in candidates if mutant not in same]
        left = untold(lifted, candidates, given, symbol, names)
    except CannotLift as error:
        yield f"inputs: {error}"
        return
    yield f"of {len(candidates)} changes of the rule, the test's inputs do not tell {len(left)}:"
    for mutant in left:
        yield f"  line {mutant.line}: {mutant.what}"
    made = sorted(
        name
        for name in lifted.inputs
        if name not in literals
        and roles.get(name) is not None
        and not dict(lifted.parameters).get(name)
    )
    if made:
        yield f"(drawn at random, as the test does not say them: {', '.join(made)})"


def _near_ids(root: Path, lifted: OracleSlice) -> list[int]:
    """Ids that other constants of production name, and those next to them."""
    modules = {
        argument.symbol.partition(":")[0]
        for op in lifted.ops
        for argument in op.arguments
        if isinstance(argument, Const) and argument.symbol and ":" in argument.symbol
    }
    texts: list[str] = []
    for module in sorted(modules - {"torch"}):
        for place in (root, root / "src"):
            path = place.joinpath(*module.split(".")).with_suffix(".py")
            if path.is_file():
                texts.append(read_text(path))
    return sorted({near for value in of_sources(texts) for near in (value - 1, value, value + 1)})


def _batches(
    lifted: OracleSlice,
    roles: Mapping[str, object],
    literals: Mapping[str, list[int]],
    instead: Mapping[str, list[int]],
) -> list[dict[str, object]]:
    """Values for every input of the slice: those that the test spells out (or others `instead`),
    the rest at random, several times, and one set for each value of a parametrized number."""
    import torch

    spelled = {**literals, **{name: ids for name, ids in instead.items() if ids}}
    tokens = next((len(values) for values in spelled.values()), TOKENS)
    numbers: dict[str, object] = {
        "top_k": TOP_K, "experts": EXPERTS, "hidden_size": HIDDEN, "scale": 1.0
    }  # fmt: skip
    batches: list[dict[str, object]] = []
    for draw in range(DRAWS):
        generator = torch.Generator()
        generator.manual_seed(draw)
        batch: dict[str, object] = {}
        for name in lifted.inputs:
            role = roles.get(name)
            if name in spelled:
                batch[name] = torch.tensor(spelled[name])
            elif not isinstance(role, str):
                batch[name] = role
            elif role in numbers:
                batch[name] = numbers[role]
            elif role == "input_ids":
                batch[name] = torch.randint(0, 1000, (tokens,), generator=generator)
            else:
                known = {"hidden": (tokens, HIDDEN), "weight": (EXPERTS, HIDDEN)}
                batch[name] = torch.randn(known.get(role, (EXPERTS,)), generator=generator)
        batches.append(batch)
    for name, values in lifted.parameters:
        choices = [value for value in values if isinstance(value, int | float)]
        if name in batches[0] and choices:
            batches = [batch | {name: choice} for batch in batches for choice in choices]
    return batches[:MOST_BATCHES]


def _literal_tensors(
    source: str, test: str, symbol: Callable[[str], object]
) -> Iterator[tuple[str, list[int]]]:
    """Names that the test binds to a tensor of whole numbers spelled out, with the numbers."""
    from contract_guard.gates.interpret import CannotLift

    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    name = test.rpartition("::")[2].split("[", 1)[0]

    def number(node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and node.id in imported:
            try:
                value = symbol(imported[node.id])
            except CannotLift:
                return None
            return value if isinstance(value, int) else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            left, right = number(node.left), number(node.right)
            if left is None or right is None:
                return None
            return left + right if isinstance(node.op, ast.Add) else left - right
        return None

    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name != name:
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            for call in ast.walk(node.value):
                # A repeated or shortened tensor holds the same ids.
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("tensor"):
                    first = call.args[0] if call.args else None
                    if isinstance(first, ast.List):
                        values = [number(element) for element in first.elts]
                        if values and all(value is not None for value in values):
                            yield node.targets[0].id, cast("list[int]", values)
                    break
