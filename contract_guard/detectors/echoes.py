"""CG305 echoed call: a comparison of what one production call gives with itself."""

import re
from collections.abc import Iterable

from contract_guard.detectors.base import Context, Site
from contract_guard.facts.model import Echo, ModuleFacts, Span
from contract_guard.findings import Finding
from contract_guard.registry.model import Producer

# Names and comments that say that repetition, or equality itself, is what the test is about.
_REPETITION = re.compile(
    r"""determinis|idempot|repeat|reproduc|stable|stabili|consisten|cach|memo|twice|again|second
    |both|identi|hash|seed|singleton|round.?trip|cop(y|ies)|pickl|serializ|compil|eager|invarian
    |symmetr|lazy|reus|thread|concurren|parallel|rerun|re-run|side.?effect|unchanged|mutat|immutab
    |same|equality|\b(eq|equals?)\b|_eq(ual)?s?(_|\b)|_same_|\bonce\b|reflexiv|pure\b|fixed""",
    re.IGNORECASE | re.VERBOSE,
)
_DOCSTRING = re.compile(r"[^\n]*def [^:]*:?[^\n]*\n\s*[rR]?\"\"\"(.*?)\"\"\"", re.DOTALL)
_TEXT = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_ABOVE = 3  # lines of comment above the assertion's calls that belong to it


def echoed_calls(context: Context) -> Iterable[Finding]:
    """CG305: an assertion whose two sides come from one call of a production function."""
    for path, facts in context.registry.facts():
        if not facts.fragments.echoes or not context.registry.layout.is_test_module(path):
            continue
        for echo in facts.fragments.echoes:
            producer = _production(context, path, facts, echo) if echo.function else None
            if (echo.name or producer is not None) and not _says_so(context, path, facts, echo):
                yield _finding(context, path, facts, echo, producer)


def _production(context: Context, path: str, facts: ModuleFacts, echo: Echo) -> Producer | None:
    """The production function behind the callee."""
    root, _, rest = echo.function.partition(".")
    registry = context.registry
    producer = registry.resolve_name(path, echo.function).producer
    if producer is None:
        for imp in facts.imports:
            if imp.bound == root and imp.name is not None and not rest:
                producer = registry.resolve_import(path, imp).producer
    if producer is None or producer.kind not in ("function", "assign"):
        return None
    if not producer.origin and registry.layout.is_test(producer.path):
        return None
    return producer


def _says_so(context: Context, path: str, facts: ModuleFacts, echo: Echo) -> bool:
    """Whether names or comments say that the function is called again on purpose."""
    lines = context.text(path).split("\n")
    function = next(f for f in facts.fragments.functions if f.qualname == echo.qualname)
    first = min(echo.evaluated)
    head = "\n".join(lines[function.start - 1 : echo.end])
    docstring = _DOCSTRING.match(head)
    above = lines[max(first - 1 - _ABOVE, function.start - 1) : echo.end]
    words = [
        path.rpartition("/")[2],
        echo.qualname,
        docstring[1] if docstring else "",
        *(line.partition("#")[2] for line in above),
        *_TEXT.findall("\n".join(lines[echo.line - 1 : echo.end])),
    ]
    return any(_REPETITION.search(word) for word in words)


def _finding(
    context: Context, path: str, facts: ModuleFacts, echo: Echo, producer: Producer | None
) -> Finding:
    lines = context.text(path).split("\n")
    start, last = lines[echo.line - 1], lines[echo.end - 1]
    span = Span(echo.line, len(start) - len(start.lstrip()) + 1, echo.end, len(last.rstrip()) + 1)
    scopes = [
        index
        for index, scope in enumerate(facts.scopes)
        if scope.qualname == echo.qualname and scope.span.line <= echo.line <= scope.span.end_line
    ]
    who = "production" if producer is None else "the function"
    if producer is None:
        how = f"compares `{echo.name}` with itself"
    elif echo.evaluated[1:] or echo.line in echo.evaluated:
        how = f"calls `{producer.symbol}` on the same arguments for both sides"
    else:
        how = f"compares what `{producer.symbol}` gave on line {min(echo.evaluated)} with itself"
    return context.finding(
        "CG305",
        "warning",
        Site(path, facts, span, span, scopes[-1] if scopes else 0, -1),
        echo.name if producer is None else producer.symbol,
        f"the assertion {how}: it holds whatever {who} does",
        "compare the result with what is expected"
        if producer is None
        else "write out what is expected; or, if the test is that a second call gives the same, "
        "say so in its name",
    )
