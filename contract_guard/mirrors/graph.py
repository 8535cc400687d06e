"""The operation graph under construction: hash-consed ops, and what is known of each value."""

import functools
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from contract_guard.mirrors.model import UNRESOLVED, Const, Op, Reference
from contract_guard.mirrors.operations import ACCESS, RANDOM, words

# Rank: how near a value is to production. The side of an assertion with the lower rank is the
# expected one.
RESULT = 3.0  # what a production call gave, or a double captured
OBJECT = 2.0  # built from a production class
PLAIN = 1.0
_STEP = 0.5

# Third-party roots whose calls are vocabulary, not production under test.
LIBRARIES = words(
    """torch numpy scipy pandas pytest _pytest hypothesis einops transformers sklearn jax triton
    parameterized tqdm yaml safetensors huggingface_hub datasets PIL requests packaging
    matplotlib tensorflow cupy numba psutil mock freezegun attr attrs pydantic networkx ml_dtypes
    regex msgspec aiohttp zmq ray cloudpickle fastapi openai grpc httpx rich click dateutil pytz
    pyarrow joblib threadpoolctl redis sqlalchemy flask django
    torchvision torch_npu torch_xla setuptools pkg_resources cuda cutlass"""
)
_TEST_ROOTS = frozenset({"tests", "test", "conftest", "testing", "test_utils"})
_CAPTURED = frozenset(
    {"call_args", "call_args_list", "mock_calls", "method_calls", "await_args", "call_count"}
)


@dataclass(frozen=True, slots=True)
class Imported:
    """A name of another module: `module` as imported, `qualname` inside it ("" for itself)."""

    module: str
    qualname: str = ""

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.qualname}" if self.qualname else self.module

    def attribute(self, name: str) -> "Imported":
        return Imported(self.module, f"{self.qualname}.{name}" if self.qualname else name)

    def constant(self) -> Const:
        if not self.qualname:
            return Const(UNRESOLVED, self.module)
        return Const(UNRESOLVED, f"{self.module}:{self.qualname}")


def is_test_module(module: str) -> bool:
    """True for modules of a test tree, as far as their dotted name tells."""
    parts = module.split(".")
    return not parts[0] or parts[0] in _TEST_ROOTS or "tests" in parts or parts[-1] == "conftest"


def is_production(dotted: str, packages: Collection[str] | None) -> bool:
    """True if a dotted name belongs to code under test: to one of `packages` (import roots), or
    to what is neither the standard library, nor a library of `LIBRARIES`, nor a test module.

    With `packages` None nothing does: a function of production is looked at by itself.
    """
    if packages is None:
        return False
    if dotted.startswith("torch.ops."):
        return True
    root = dotted.split(".", 1)[0]
    if is_test_module(dotted.rsplit(".", 1)[0]):
        return False
    return root in packages or (
        root not in LIBRARIES and root not in sys.stdlib_module_names and root != "builtins"
    )


@dataclass(slots=True)
class Graph:
    """Ops by index, each once. `ranks` and `random` are parallel to `ops`.

    `input_ranks` gives the rank of every "$name" that was made; `objects` are the inputs that
    stand for an object of production, `produced` the ops that production itself computes, `done`
    those of which the test uses no result: statements of one call.
    `refused` keeps reasons in order, each once.
    `aliases` are the names that an op's value was bound to. With `alone` there is none that
    production computes: the first raises `ProductionCalled`.
    """

    limit: int = 4000
    alone: bool = False
    ops: list[Op] = field(default_factory=list[Op])
    ranks: list[float] = field(default_factory=list[float])
    random: list[bool] = field(default_factory=list[bool])
    input_ranks: dict[str, float] = field(default_factory=dict[str, float])
    objects: set[str] = field(default_factory=set[str])
    produced: set[int] = field(default_factory=set[int])
    done: set[int] = field(default_factory=set[int])
    refused: dict[str, None] = field(default_factory=dict[str, None])
    aliases: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    _known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def op(
        self,
        name: str,
        arguments: Iterable[Reference],
        line: int,
        keywords: Mapping[str, Reference] | None = None,
        rank: float | None = None,
    ) -> int:
        """The index of this operation. Raises `TooLarge` past `limit` operations, and
        `ProductionCalled`, see above."""
        args = tuple(arguments)
        words = tuple(sorted(keywords.items())) if keywords else ()
        # 1, 1.0 and True are equal keys but different constants.
        key = (name, args, words, *(type(a.value) for a in args if isinstance(a, Const)))
        try:
            known = self._known.get(key)
        except TypeError:
            key, known = (len(self.ops),), None
        is_random = _draws(name)
        if known is not None and not is_random:
            return known
        if len(self.ops) >= self.limit:
            raise TooLarge
        index = len(self.ops)
        self.ops.append(Op(name, args, words, line))
        used = [*args, *(value for _, value in words)]
        self.ranks.append(self._rank(name, args, used) if rank is None else rank)
        if rank is not None and rank >= OBJECT and name != "ifelse":
            if self.alone:
                raise ProductionCalled
            self.produced.add(index)
        self.random.append(is_random or any(self.is_random(value) for value in used))
        self._known[key] = index
        return index

    def input(self, name: str, rank: float = PLAIN) -> str:
        reference = f"${name}"
        if name.rsplit(".", 1)[-1] in _CAPTURED:
            rank = RESULT
        self.input_ranks[reference] = max(rank, self.input_ranks.get(reference, 0.0))
        return reference

    def refuse(self, reason: str) -> None:
        self.refused[reason] = None

    def rank(self, value: Reference) -> float:
        if isinstance(value, int):
            return self.ranks[value]
        if isinstance(value, str):
            return self.input_ranks.get(value, PLAIN)
        return PLAIN

    def is_random(self, value: Reference) -> bool:
        return isinstance(value, int) and self.random[value]

    def constant(self, value: Reference) -> object:
        """The Python value of a small constant expression, or UNRESOLVED."""
        if isinstance(value, Const):
            return value.value
        if isinstance(value, str):
            return UNRESOLVED
        op = self.ops[value]
        fold = _FOLD.get(op.name)
        if fold is None or len(op.arguments) > 2:
            return UNRESOLVED
        numbers = [self.constant(a) for a in op.arguments]
        if not all(isinstance(n, int) and abs(n) < 1 << 40 for n in numbers):
            return UNRESOLVED
        try:
            return fold(*numbers)
        except (ArithmeticError, TypeError):
            return UNRESOLVED

    def elements(self, value: Reference, limit: int = 64) -> list[Reference] | None:
        """What iterating a value gives, where that is known and short."""
        if isinstance(value, Const):
            if isinstance(value.value, str) and len(value.value) <= limit:
                return [Const(c) for c in value.value]
            return None
        if isinstance(value, str):
            return None
        op = self.ops[value]
        if op.keywords:
            return None
        if op.name in ("list", "tuple", "set"):
            return list(op.arguments) if len(op.arguments) <= limit else None
        if op.name == "dict":
            return list(op.arguments[::2])
        if op.name in ("builtins.list", "builtins.tuple") and len(op.arguments) == 1:
            return self.elements(op.arguments[0], limit)
        if op.name == "builtins.range":
            steps = _range([self.constant(a) for a in op.arguments])
            return None if steps is None or len(steps) > limit else [Const(i) for i in steps]
        if op.name == "builtins.enumerate":
            inner = [self.elements(a, limit) for a in op.arguments[:1]]
            start = next((self.constant(a) for a in op.arguments[1:]), 0)
            if not inner or inner[0] is None or not isinstance(start, int):
                return None
            return [
                self.op("tuple", (Const(i), item), op.line)
                for i, item in enumerate(inner[0], start)
            ]
        if op.name == "builtins.zip":
            columns = [self.elements(a, limit) for a in op.arguments]
            known = [column for column in columns if column is not None]
            if len(known) < len(columns):
                return None
            return [self.op("tuple", row, op.line) for row in zip(*known, strict=False)]
        if op.name == "items":
            base = op.arguments[0]
            if isinstance(base, int) and self.ops[base].name == "dict":
                pairs = self.ops[base].arguments
                rows = zip(pairs[::2], pairs[1::2], strict=True)
                return [self.op("tuple", row, op.line) for row in rows]
        return None

    def _rank(self, name: str, args: tuple[Reference, ...], used: list[Reference]) -> float:
        if name == "getattr" and len(args) == 2 and isinstance(args[1], Const):
            if args[1].value in _CAPTURED:
                return RESULT
            return self.rank(args[0])
        if name in ACCESS and args:
            return self.rank(args[0])
        return max([PLAIN, *(self.rank(value) - _STEP for value in used)])


@functools.cache
def _draws(name: str) -> bool:
    """True for operations that give another value each time."""
    return name.rsplit(".", 1)[-1] in RANDOM


class ProductionCalled(Exception):
    """Production computes something where only what does without it is of interest."""


class TooLarge(Exception):
    """The graph has reached its bound."""


def _range(numbers: list[object]) -> range | None:
    bounds = [n for n in numbers if isinstance(n, int)]
    if len(bounds) < len(numbers) or not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        return None
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    return range(start, stop, bounds[2] if len(bounds) == 3 else 1)


_FOLD: dict[str, Callable[..., object]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": int.__floordiv__,
    "mod": operator.mod,
    "neg": operator.neg,
}
