"""CG301 mirrored logic, CG302 mirrored helper, CG303 mirrored predicate, CG304 shadow copy,
CG306 discarded comparison."""

import ast
import gc
import re
from collections.abc import Iterable

import msgspec

from contract_guard.detectors.base import Context, Site
from contract_guard.facts.model import FileFragments, ModuleFacts, Span, Unreadable
from contract_guard.facts.reader import read as read_source
from contract_guard.findings import Finding, Related, Severity
from contract_guard.mirrors.copies import (
    Copy,
    FileCopies,
    Place,
    PredicateCopy,
    copies_in,
    is_note,
    is_of_other_path,
)
from contract_guard.mirrors.operations import ACCESS, words
from contract_guard.mirrors.scopes import dotted_name
from contract_guard.mirrors.search import Search

# Directories whose functions show or measure production and are none themselves.
_NOT_PRODUCTION = frozenset({"benchmark", "benchmarks", "examples", "docs", "third_party"})
_DISCARDED = frozenset({"allclose", "array_equal", "isclose", "equal", "array_equiv"})
_NUMERIC = frozenset({"torch", "np", "numpy", "math", "jnp", "cupy"})
_DOT = r"[\s\\]*\.[\s\\]*"
# What a file has that holds such a statement: most have not, and need not be parsed again.
_DISCARDING = re.compile(
    rf"(?:^|[;:])[ \t(]*(?:{'|'.join(_NUMERIC)})(?:{_DOT}\w+)*?{_DOT}(?:{'|'.join(_DISCARDED)})\b",
    re.MULTILINE,
)
_MANY_OPERATIONS = 8
_FEW_OPERATIONS = 2
_LONG_LINE = 80
_WRITTEN = {"reciprocal": "1 /"}  # as a reader sees it
# How values are found and laid out; a reader knows a copy by what is computed.
_LAYOUT = ACCESS | words(
    """getitem setitem shape len eq ne where arange zeros ones empty list_comprehension element
    reshape to range"""
)

_HELP = (
    "expect values that are known some other way (worked out by hand, another library, a "
    "property), or call production and check what follows from it"
)


def mirrored(context: Context) -> Iterable[Finding]:
    """CG301 to CG304: expected values that are computed as production computes them."""
    # Graphs and trees are millions of objects without cycles; the collector would only walk them.
    enabled = gc.isenabled()
    gc.disable()
    try:
        found = list(_copies(context))
    finally:
        if enabled:
            gc.enable()
    for _, copies in found:
        reported: set[tuple[str, str, str]] = set()
        for copy in copies.copies:
            rule = "CG304" if copy.is_shadow else "CG301" if copy.helper is None else "CG302"
            place = copy.helper or copy.test
            key = (rule, place.qualname, copy.production.qualname)
            if key not in reported:
                reported.add(key)
                yield _mirror(context, copy, rule, place)
        for predicate in copies.predicates:
            yield _mirrored_predicate(context, predicate)


def _copies(context: Context) -> Iterable[tuple[str, FileCopies]]:
    files, tests = _searched(context)
    paths = [
        path
        for path, _ in context.registry.facts()
        if path in files and context.registry.layout.is_test_module(path)
    ]
    if context.copies_of is not None:
        return context.copies_of(files, tests, paths)
    search = search_of(context)
    return ((path, copies_in(search, path)) for path in paths)


def search_of(context: Context) -> Search:
    """The search over all files of the project."""
    return Search(*_searched(context), context.text)


def _searched(context: Context) -> tuple[dict[str, FileFragments], frozenset[str]]:
    """The fragments of all files, and those of them that are no production."""
    layout = context.registry.layout
    whole = context.registry.whole.facts()
    files = {path: facts.fragments for path, facts in whole if path.endswith(".py")}
    tests = frozenset(
        path
        for path in files
        if layout.is_test(path) or not _NOT_PRODUCTION.isdisjoint(path.split("/")[:-1])
    )
    return files, tests


def _mirror(context: Context, copy: Copy, rule: str, place: Place) -> Finding:
    match, production = copy.match, copy.production
    symbol = _symbol(context, production)
    lines = sorted(line for line, _ in match.aligned if place.start <= line <= place.end)
    site = _site(context, place, lines or [place.start])
    what = {
        "CG301": f"the expected value is computed as `{symbol}` computes it",
        "CG302": f"`{place.qualname}` computes what `{symbol}` computes, for the expected value",
        "CG304": f"the test never calls `{symbol}`: it checks its own copy",
    }[rule]
    if is_of_other_path(copy):
        what = (
            f"production holds this reference already: `{symbol}` computes what this test expects"
        )
    inside = (place, copy.test)
    aligned = tuple(
        pair for pair in match.aligned if any(p.start <= pair[0] <= p.end for p in inside)
    )
    lines = [line for _, line in aligned or match.aligned]
    related = Related(
        path=production.path,
        line=min(lines),
        end_line=max(lines) + 1,
        qualname=production.qualname,
        message="the same rule",
        aligned=aligned or match.aligned,
    )
    severity: Severity = "note" if is_note(copy) else "warning"
    help_text = _HELP
    if is_of_other_path(copy):
        help_text = f"call `{symbol}` for the expected value, and test it by itself"
    cost = "a fault that both share does not show here"
    if rule == "CG304" and match.parting is None:
        cost = "no difference is seen yet, and a fault or a change of production does not show here"
    elif rule == "CG304" and match.parting is not None:
        here, there = match.parting
        severity = "error"
        cost = f"and the copies part: line {here} here is not line {there} there"
    finding = context.finding(
        rule,
        severity,
        site,
        symbol,
        f"{what} ({_why(copy, context.text(place.path), place)}): {cost}",
        help_text,
        related=(related,),
        identity=f"{place.qualname} {symbol}",
    )
    test = f"{copy.test.path}::{copy.test.qualname.replace('.', '::')}"
    return msgspec.structs.replace(finding, score=round(copy.probability, 2), test=test)


def _why(copy: Copy, text: str, place: Place) -> str:
    """A few words on what is shared; the line of a test that has it, where words say little."""
    match = copy.match
    every = [op for op in dict.fromkeys(match.operations) if op.isidentifier()]
    shown = [_WRITTEN.get(op, op) for op in every if op not in _LAYOUT] or every
    words: list[str] = []
    if match.computing and len(shown) > _FEW_OPERATIONS:
        words.append(", ".join(shown[:_MANY_OPERATIONS]))
    elif match.computing:
        words.append(_line(match.aligned, text, place) or ", ".join(shown))
    if match.text:
        words.append("the same text")
    names = [leaf for leaf in match.leaves if len(leaf) > 2 and leaf != "None"]
    if names:
        words.append("names " + ", ".join(names[:4]))
    return "; ".join(words) or ", ".join(shown)


def _line(aligned: Iterable[tuple[int, int]], text: str, place: Place) -> str:
    """The last line of a copy in `place`, "" where it is long, or no whole expression."""
    inside = [line for line, _ in aligned if place.start <= line <= place.end]
    line = text.splitlines()[max(inside) - 1].strip() if inside else ""
    is_whole = all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}"))
    starts = line[:1].isidentifier() or line[:1] in ("(", "[", "{", "-", "~")
    is_shown = is_whole and starts and len(line) <= _LONG_LINE and "`" not in line
    return f"`{line}`" if is_shown else ""


def _mirrored_predicate(context: Context, predicate: PredicateCopy) -> Finding:
    production = _symbol(context, predicate.production)
    same = "the same" if predicate.is_equal else "another"
    return context.finding(
        "CG303",
        "warning",
        _site(context, predicate.test, [predicate.line]),
        predicate.symbol,
        f"this condition over `{predicate.name}` is built again; `{production}` has {same} one",
        f"call `{production}` if it is not what the test checks, or expect ids that are "
        "written out",
        related=(
            Related(
                path=predicate.production.path,
                line=predicate.production_line,
                end_line=predicate.production_line + 1,
                qualname=predicate.production.qualname,
                message="the condition in production",
                aligned=((predicate.line, predicate.production_line),),
            ),
        ),
        identity=f"{predicate.test.qualname} {predicate.shape}",
    )


def discarded_comparisons(context: Context) -> Iterable[Finding]:
    """CG306: `torch.allclose(a, b)` as a statement: compared, and not asserted."""
    for path, facts in context.registry.facts():
        if not context.registry.layout.is_test(path):
            continue
        if not any(f.calls & _DISCARDED for f in facts.fragments.functions):
            continue
        if not _DISCARDING.search(context.text(path)):
            continue
        for node in ast.walk(_tree(context, path)):
            if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
                continue
            dotted = dotted_name(node.value.func)
            root, _, last = dotted.rpartition(".")
            if last not in _DISCARDED or root.split(".")[0] not in _NUMERIC:
                continue
            if len(node.value.args) > 2 and last == "equal":
                continue  # a third argument takes the result
            if any(keyword.arg in ("out", None) for keyword in node.value.keywords):
                continue
            yield context.finding(
                "CG306",
                "warning",
                _node_site(context, path, facts, node),
                dotted,
                f"`{dotted}` returns whether its arguments agree, and nobody looks at it",
                f"write `assert {dotted}(...)`, or use a function that raises "
                "(torch.testing.assert_close, numpy.testing.assert_allclose)",
            )


def _tree(context: Context, path: str) -> ast.Module:
    """The tree of a file whose facts were read: it parses."""
    parsed = read_source(context.read(path))
    assert not isinstance(parsed, Unreadable)
    return parsed[1]


def _symbol(context: Context, place: Place) -> str:
    name = context.registry.module(place.path).name
    if place.path.startswith("src/"):
        name = name.removeprefix("src.")
    return f"{name}:{place.qualname}"


def _site(context: Context, place: Place, lines: list[int]) -> Site:
    """The lines of a test that are the copy, without the indent of the first."""
    facts = context.registry.tree.files[place.path]
    assert isinstance(facts, ModuleFacts)
    texts = context.text(place.path).splitlines()
    first, last = lines[0], lines[-1]
    start = texts[first - 1]
    span = Span(
        first, len(start) - len(start.lstrip()) + 1, last, len(texts[last - 1].rstrip()) + 1
    )
    return Site(place.path, facts, span, span, _scope(facts, place), -1)


def _node_site(context: Context, path: str, facts: ModuleFacts, node: ast.stmt) -> Site:
    texts = context.text(path).splitlines()

    def column(line: int, offset: int) -> int:
        return len(texts[line - 1].encode()[:offset].decode("utf-8", "replace")) + 1

    end_line = node.end_lineno or node.lineno
    span = Span(
        node.lineno,
        column(node.lineno, node.col_offset),
        end_line,
        column(end_line, node.end_col_offset or 0),
    )
    inside = [
        (scope.span.end_line - scope.span.line, index)
        for index, scope in enumerate(facts.scopes)
        if scope.kind == "function" and scope.span.line <= node.lineno <= scope.span.end_line
    ]
    return Site(path, facts, span, span, min(inside)[1] if inside else 0, -1)


def _scope(facts: ModuleFacts, place: Place) -> int:
    found = [
        index
        for index, scope in enumerate(facts.scopes)
        if scope.qualname == place.qualname and scope.span.line <= place.end
    ]
    return found[-1] if found else 0
