"""How a test computes what it expects: `lift(source, "tests/test_x.py::TestA::test_b")`.

The result is a straight-line program (`OracleSlice`). Its conventions, for whoever interprets it:

- **Order**: an op's arguments are earlier ops. `ifelse(test, a, b)` is Python's choice: only the
  taken side may be evaluated, so evaluate from the outputs back, on demand.
- **Names**: method, torch or numpy function, and operator of one meaning have one name:
  `x.softmax(-1)` and `torch.nn.functional.softmax(x, dim=-1)` are `softmax(x, dim=-1)`; a
  trailing underscore is dropped (in-place calls bind the name anew); see `operations.py`.
  Operators: `add sub mul div floordiv mod pow matmul neg pos invert bitand bitor bitxor lshift
  rshift eq ne lt le gt ge in not_in is is_not and or not`.
- **Arguments**: those of `operations.PARAMETERS` by position, the rest as keywords of torch
  (`dim`, `keepdim`, `dtype`, ...). Sizes of view, reshape, expand, permute are spread.
- **Access**: `getitem(x, index)` with index a constant, an op, `slice(start, stop, step)` or
  `tuple(...)` of these; `getattr(x, "shape")`; `.indices`, `[1]` and unpacking of topk, sort, max,
  min are all `getitem(x, 1)`; `setitem(x, index, value)` gives the changed copy of x.
- **Casts**: `x.float()` is `to(x, dtype=Const(UNRESOLVED, "torch:float32"))`.
- **Containers**: `list(...)`, `tuple(...)`, `set(...)`, `dict(key, value, ...)`, `star(x)`;
  `format(part, ...)` is an f-string, `format_spec(value, ":>8")` one field of it.
- **Other functions** keep their dotted name: `builtins.len`, `math.ceil`, `pkg.mod.function`;
  `call(f, ...)` calls a value; a method that arrays do not have is an op of its own name.
- **Inputs** ("$name"): parameters of the test, objects of production with their attributes
  (`$moe.gate.weight`), what the test passes to production itself (`$input_ids`: given, hence no
  part of the rule), random values by the name they are bound to, `$double.parameter`.
- **Refused**: `open`, `eval` and the like, loops and comprehensions whose elements are not known
  (they then stand once, over `element(iterable)`), recursion, what exceeds the bounds.
"""

import ast
import hashlib
from collections.abc import Iterable

from contract_guard.mirrors.model import Check, Const, OracleSlice, Range, Reference
from contract_guard.mirrors.operations import BINARY, words
from contract_guard.mirrors.trace import Expectation, Trace, trace, trace_all

_CONTAINERS = words("list tuple dict set")
_CONSTANT = _CONTAINERS | frozenset(BINARY.values()) | {"neg", "getitem", "format"}


def lift(source: bytes | str, node_id: str, production: Iterable[str] = ()) -> OracleSlice:
    """The slice of one test, `node_id` as pytest writes it (a bracket id is ignored).

    `production` are import roots of the code under test that would otherwise be taken for
    libraries; what is neither the standard library, a well-known library nor a test package is
    production in any case. Raises `SyntaxError`
    if the source does not parse, `LookupError` if it has no such test.
    """
    path, _, qualname = node_id.partition("::")
    qualname = qualname.split("[", 1)[0].replace("::", ".")
    return oracle_slice(trace(ast.parse(source), qualname, frozenset(production)), path)


def lift_all(
    source: bytes | str, path: str, production: Iterable[str] = ()
) -> dict[str, OracleSlice]:
    """The slices of all tests of a file by node id. Raises `SyntaxError`."""
    return {
        f"{path}::{qualname.replace('.', '::')}": oracle_slice(traced, path)
        for qualname, traced in trace_all(ast.parse(source), frozenset(production)).items()
    }


def oracle_slice(traced: Trace, path: str) -> OracleSlice:
    """What the computed expectations of a trace need, renumbered."""
    chosen = [e for e in traced.expectations if not is_literal(e, traced)]
    roots = [e.value for e in chosen] + [c for e in chosen for c in e.conditions]
    needed = traced.reachable(roots)
    number = {old: new for new, old in enumerate(needed)}

    def moved(value: Reference) -> Reference:
        return number[value] if isinstance(value, int) else value

    ops = tuple(traced.renumbered(old, moved) for old in needed)
    used = {a for op in ops for a in (*op.arguments, *(v for _, v in op.keywords))}
    used.update(moved(root) for root in roots)
    outputs = tuple((e.name, moved(e.value)) for e in chosen)
    checks = tuple(
        Check(e.form, e.line, e.actual_text, tuple(moved(c) for c in e.conditions)) for e in chosen
    )
    lines = {op.line for op in ops if op.line} | {e.line for e in chosen}
    text = repr([(op.name, op.arguments, op.keywords) for op in ops] + [v for _, v in outputs])
    return OracleSlice(
        inputs=tuple(sorted(a[1:] for a in used if isinstance(a, str))),
        ops=ops,
        outputs=outputs,
        ranges=ranges(path, lines),
        refused=tuple(traced.refused_for(needed)),
        fingerprint=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        checks=checks,
        parameters=traced.parameters,
    )


def ranges(path: str, lines: Iterable[int]) -> tuple[Range, ...]:
    """Sorted lines as ranges; neighbours join."""
    found: list[Range] = []
    for line in sorted(lines):
        if found and line <= found[-1].end + 1:
            found[-1] = Range(path, found[-1].start, line)
        else:
            found.append(Range(path, line, line))
    return tuple(found)


def is_literal(expectation: Expectation, traced: Trace) -> bool:
    """True if nothing is computed from anything: no name in the expression, or constants without
    a name in containers and arithmetic as its value."""
    value = expectation.value
    ops = [traced.graph.ops[i] for i in traced.reachable([value])]
    if expectation.literal or not ops:
        return expectation.literal or not isinstance(value, str)
    operands = [a for op in ops for a in op.arguments]
    if all(op.name in _CONTAINERS for op in ops):
        return not any(isinstance(a, str) for a in operands)
    return all(op.name in _CONSTANT and not op.keywords for op in ops) and all(
        isinstance(a, int) or (isinstance(a, Const) and a.symbol is None) for a in operands
    )
