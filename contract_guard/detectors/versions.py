"""Version tests in conditions, folded for the versions that a project is checked against."""

import ast
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from contract_guard.facts.source import dotted

_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)(.*)\Z")
_WORD = re.compile(r"\w+")
_PRE = re.compile(r"[-_.]?(?:a|b|c|rc|alpha|beta|pre|dev)", re.IGNORECASE)
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class Version(NamedTuple):
    """Enough of a PEP 440 version to compare releases: `1.2rc1` is before `1.2` and `1.2.0`."""

    release: tuple[int, ...]
    is_final: bool


def parse(text: str) -> Version | None:
    """The version that `text` writes, None for other text."""
    match = _RELEASE.match(text.strip())
    if match is None:
        return None
    release = [int(part) for part in match[1].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    return Version(tuple(release), _PRE.match(match[2]) is None)


class Versions:
    """What conditions say of the versions in `origins` (`vllm==0.33.0`).

    `predicates` are dotted names of functions that test a version: `is("1.2")`, `is(">=", "1.2")`,
    `is("vllm", ">=", "1.2")`. Comparisons with `vllm.__version__` and `version("vllm")` are known.
    """

    def __init__(self, origins: Sequence[str], predicates: Collection[str]) -> None:
        self._known: dict[str, list[Version]] = {}
        for origin in origins:
            name, _, text = origin.partition("==")
            version = parse(text)
            if version is not None:
                self._known.setdefault(_normal(name), []).append(version)
        self._predicates = frozenset(name.rpartition(".")[2] for name in predicates)

    def is_asked_in(self, condition: str) -> bool:
        """Whether a condition names one of the functions that test a version."""
        return not self._predicates.isdisjoint(_WORD.findall(condition))

    def may_hold(self, condition: str, *, negated: bool = False) -> bool | None:
        """Whether a condition, or its opposite, holds for any of the versions; None where that
        cannot be told."""
        if not self._known:
            return None
        try:
            test = ast.parse(condition, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        answers = self._fold(test)
        return None if answers is None else any(answer != negated for answer in answers)

    def _fold(self, test: ast.expr) -> list[bool] | None:
        """The answer for each version, None where there is none."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            answers = self._fold(test.operand)
            return None if answers is None else [not answer for answer in answers]
        if isinstance(test, ast.BoolOp):
            folded = [self._fold(value) for value in test.values]
            known = [answers for answers in folded if answers is not None]
            decides = isinstance(test.op, ast.Or)
            for answers in known:
                if all(answer == decides for answer in answers):
                    return answers
            if len(known) < len(folded) or len({len(answers) for answers in known}) != 1:
                return None
            return [(any if decides else all)(each) for each in zip(*known, strict=True)]
        if isinstance(test, ast.Call):
            return self._call(test)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compare(test)
        return None

    def _call(self, call: ast.Call) -> list[bool] | None:
        if dotted(call.func).rpartition(".")[2] not in self._predicates:
            return None
        texts = [a.value for a in call.args if isinstance(a, ast.Constant)]
        words = [text for text in texts if isinstance(text, str)]
        if len(words) < len(call.args):
            return None
        comparison = next((word for word in words if word in _OPERATORS), "==")
        asked = next((v for word in words if (v := parse(word)) is not None), None)
        names = [word for word in words if word not in _OPERATORS and parse(word) is None]
        return self._answers(names[0] if names else "", comparison, asked)

    def _compare(self, compare: ast.Compare) -> list[bool] | None:
        comparison = _COMPARISONS.get(type(compare.ops[0]))
        asked = _literal(compare.comparators[0])
        name = _version_of(compare.left)
        if comparison is None or name is None:
            return None
        return self._answers(name, comparison, asked)

    def _answers(self, name: str, comparison: str, asked: Version | None) -> list[bool] | None:
        if not name and len(self._known) == 1:
            versions = next(iter(self._known.values()))
        else:
            versions = self._known.get(_normal(name))
        if versions is None or asked is None:
            return None
        return [_OPERATORS[comparison](version, asked) for version in versions]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _literal(node: ast.expr) -> Version | None:
    """The version in `"1.2"` or `Version("1.2")`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return parse(node.value)
    return None


def _version_of(node: ast.expr) -> str | None:
    """`vllm` in `vllm.__version__`, `Version(vllm.__version__)`, `parse(version("vllm"))`."""
    while isinstance(node, ast.Call) and len(node.args) == 1:
        if dotted(node.func).rpartition(".")[2] == "version" and (name := _text(node.args[0])):
            return name
        node = node.args[0]
    name = dotted(node)
    return name.removesuffix(".__version__") if name.endswith(".__version__") else None


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
