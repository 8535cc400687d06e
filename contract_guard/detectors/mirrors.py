"""CG301 mirrored logic, CG302 mirrored helper, CG303 mirrored predicate, CG304 shadow copy,
CG306 discarded comparison."""

import ast
import gc
from collections.abc import Iterable, Iterator

import msgspec

from contract_guard.detectors.base import Context, Site
from contract_guard.facts.model import FunctionFragments, ModuleFacts, Span, Unreadable
from contract_guard.facts.reader import read as read_source
from contract_guard.findings import Finding, Related, Severity
from contract_guard.mirrors.index import NEARBY
from contract_guard.mirrors.predicates import masks, named_predicates, production_constants
from contract_guard.mirrors.scopes import dotted_name
from contract_guard.mirrors.search import Resemblance, Search, TestGraph
from contract_guard.mirrors.verdict import is_mirror, is_shadow, probability

# Directories whose functions show or measure production and are none themselves.
_NOT_PRODUCTION = frozenset({"benchmark", "benchmarks", "examples", "docs", "third_party"})
_DISCARDED = frozenset({"allclose", "array_equal", "isclose", "equal", "array_equiv"})
_NUMERIC = frozenset({"torch", "np", "numpy", "math", "jnp", "cupy"})
_MANY_OPERATIONS = 8

_HELP = (
    "expect values that are known some other way (worked out by hand, another library, a "
    "property), or call production and check what follows from it"
)


def mirrored(context: Context) -> Iterable[Finding]:
    """CG301 to CG304: expected values that are computed as production computes them."""
    search = _search(context)
    # Graphs and trees are millions of objects without cycles; the collector would only walk them.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield from _copies(context, search)
        yield from _mirrored_predicates(context, search)
    finally:
        if enabled:
            gc.enable()


def _copies(context: Context, search: Search) -> Iterator[Finding]:
    reported: set[tuple[str, str, str, str]] = set()
    for path, test in _tests(context, search):
        found = [r for r in search.resemblances(path, test) if _rule(r)]
        best = max(found, key=lambda r: probability(r.match, r.reach), default=None)
        if best is None:
            continue
        rule = _rule(best)
        place = best.helper or best.test
        key = (rule, path, place.qualname, best.entry.function.qualname)
        if key not in reported:
            reported.add(key)
            yield _mirror(context, best, rule, place)


def _rule(resemblance: Resemblance) -> str:
    """The rule that a resemblance breaks, "" for none."""
    if not resemblance.calls_production and resemblance.reach < NEARBY:
        return "CG304" if is_shadow(resemblance.match) else ""
    if not is_mirror(resemblance.match, resemblance.reach):
        return ""
    return "CG302" if resemblance.helper is not None else "CG301"


def _mirror(
    context: Context, resemblance: Resemblance, rule: str, place: FunctionFragments
) -> Finding:
    match, entry = resemblance.match, resemblance.entry
    symbol = _symbol(context, entry.path, entry.function.qualname)
    lines = sorted(line for line, _ in match.aligned if place.start <= line <= place.end)
    site = _site(context, resemblance.path, place, lines or [place.start])
    what = {
        "CG301": f"the expected value is computed as `{symbol}` computes it",
        "CG302": f"`{place.qualname}` computes what `{symbol}` computes, for the expected value",
        "CG304": f"the test never calls `{symbol}`: it checks its own copy",
    }[rule]
    pairs = ", ".join(f"{test}={production}" for test, production in match.aligned[:12])
    places = [production for _, production in match.aligned]
    related = Related(
        path=entry.path,
        line=min(places),
        end_line=max(places) + 1,
        qualname=entry.function.qualname,
        message=f"the same rule; lines here = there: {pairs}",
    )
    severity: Severity = "warning"
    if not match.computing and all(form.endswith("match") for form in resemblance.forms):
        severity = "note"  # the text of an error message, with its values filled in
    finding = context.finding(
        rule,
        severity,
        site,
        symbol,
        f"{what} ({_why(resemblance)}): a fault in it, or a change of it, does not show here",
        _HELP,
        related=(related,),
        identity=f"{place.qualname} {symbol}",
    )
    return _with_score(finding, resemblance)


def _with_score(finding: Finding, resemblance: Resemblance) -> Finding:
    score = round(probability(resemblance.match, resemblance.reach), 2)
    test = f"{resemblance.path}::{resemblance.test.qualname.replace('.', '::')}"
    return msgspec.structs.replace(finding, score=score, test=test)


def _why(resemblance: Resemblance) -> str:
    """A few words on what is shared."""
    match = resemblance.match
    shown = [op for op in dict.fromkeys(match.operations) if op.isidentifier()]
    words: list[str] = []
    if match.computing:
        words.append(", ".join(shown[:_MANY_OPERATIONS]))
    if match.text:
        words.append("the same text")
    names = [leaf for leaf in match.leaves if len(leaf) > 2 and leaf != "None"]
    if names:
        words.append("names " + ", ".join(names[:4]))
    return "; ".join(words) or ", ".join(shown)


def _mirrored_predicates(context: Context, search: Search) -> Iterator[Finding]:
    """A mask over a production constant that production has a function for."""
    constants = _compared_constants(search)
    for path, test in _tests(context, search):
        names = {fragment.partition(">")[2] for fragment in test.fragments} & constants.keys()
        if not names:
            continue
        graph = search.graph(path, test)
        if graph is None:
            continue
        yield from _predicates(context, search, path, test, graph, constants)


def _predicates(
    context: Context,
    search: Search,
    path: str,
    test: FunctionFragments,
    graph: TestGraph,
    constants: dict[str, list[int]],
) -> Iterator[Finding]:
    ops = graph.trace.graph.ops
    needed = graph.trace.reachable([e.value for e in graph.trace.expectations])
    symbols = production_constants((ops[i] for i in needed), search.packages)
    data = {graph.form.moved[index] for index in masks(ops, needed)}
    for predicate in named_predicates(graph.form, frozenset(symbols)):
        if predicate.node not in data:
            continue
        wanted = {n for name in predicate.names for n in constants.get(name, ())}
        for number in sorted(wanted):
            entry = search.index.entries[number]
            form = search.production(entry).form
            same = [p for p in named_predicates(form, predicate.names) if p.names]
            if not same:
                continue
            theirs = max(same, key=lambda p: (p.shape == predicate.shape, len(p.names)))
            production = _symbol(context, entry.path, entry.function.qualname)
            constant = symbols[min(predicate.names)]
            equal = theirs.shape == predicate.shape
            message = (
                f"this condition over `{min(predicate.names)}` is built again; "
                f"`{production}` has {'the same' if equal else 'another'} one"
            )
            yield context.finding(
                "CG303",
                "warning",
                _site(context, path, test, [predicate.line]),
                constant,
                message,
                f"call `{production}` if it is not what the test checks, or expect ids that are "
                "written out",
                related=(
                    Related(
                        path=entry.path,
                        line=theirs.line,
                        end_line=theirs.line + 1,
                        qualname=entry.function.qualname,
                        message="the condition in production",
                    ),
                ),
                identity=f"{test.qualname} {predicate.shape}",
            )
            break


def _compared_constants(search: Search) -> dict[str, list[int]]:
    """Upper-case names that production compares with, and the functions that do; short functions
    first: a helper that gives the mask alone is the one to name."""
    found: dict[str, list[int]] = {}
    for number, (_, function) in enumerate(search.index.entries):
        for fragment in function.fragments:
            operation, _, leaf = fragment.partition(">")
            if leaf.isupper() and len(leaf) > 2 and operation in _COMPARING:
                found.setdefault(leaf, []).append(number)
    for numbers in found.values():
        entries = search.index.entries
        numbers.sort(key=lambda n: entries[n].function.end - entries[n].function.start)
    return found


_COMPARING = frozenset({"eq", "ne", "lt", "le", "in", "not_in"})


def discarded_comparisons(context: Context) -> Iterable[Finding]:
    """CG306: `torch.allclose(a, b)` as a statement: compared, and not asserted."""
    for path, facts in context.registry.facts():
        if not context.registry.layout.is_test(path):
            continue
        if not any(f.calls & _DISCARDED for f in facts.fragments.functions):
            continue
        for node in ast.walk(_tree(context, path)):
            if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
                continue
            dotted = dotted_name(node.value.func)
            root, _, last = dotted.rpartition(".")
            if last not in _DISCARDED or root.split(".")[0] not in _NUMERIC:
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


def _search(context: Context) -> Search:
    registry = context.registry
    files = {path: facts.fragments for path, facts in registry.facts() if path.endswith(".py")}
    tests = frozenset(
        path
        for path in files
        if registry.layout.is_test(path) or not _NOT_PRODUCTION.isdisjoint(path.split("/")[:-1])
    )
    trees: dict[str, ast.Module] = {}

    def parse(path: str) -> ast.Module:
        if path not in trees:
            trees[path] = _tree(context, path)
        return trees[path]

    return Search(files, tests, parse)


def _tests(context: Context, search: Search) -> Iterator[tuple[str, FunctionFragments]]:
    for path in search.index.files:
        if context.registry.layout.is_test_module(path):
            for test in search.tests_of(path):
                yield path, test


def _tree(context: Context, path: str) -> ast.Module:
    """The tree of a file whose facts were read: it parses."""
    parsed = read_source(context.read(path))
    assert not isinstance(parsed, Unreadable)
    return parsed[1]


def _symbol(context: Context, path: str, qualname: str) -> str:
    return f"{context.registry.module(path).name}:{qualname}"


def _site(context: Context, path: str, place: FunctionFragments, lines: list[int]) -> Site:
    """The lines of a test that are the copy, without the indent of the first."""
    facts = context.registry.tree.files[path]
    assert isinstance(facts, ModuleFacts)
    texts = context.text(path).splitlines()
    first, last = lines[0], lines[-1]
    start = texts[first - 1]
    span = Span(
        first, len(start) - len(start.lstrip()) + 1, last, len(texts[last - 1].rstrip()) + 1
    )
    return Site(path, facts, span, span, _scope(facts, place), -1)


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


def _scope(facts: ModuleFacts, place: FunctionFragments) -> int:
    found = [
        index
        for index, scope in enumerate(facts.scopes)
        if scope.qualname == place.qualname and scope.span.line <= place.end
    ]
    return found[-1] if found else 0
