"""`diff` in text and JSON: the contracts that changed, worst first, each with its consumers."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from contract_guard import __version__
from contract_guard.findings import Finding, Impact, TestsLost
from contract_guard.registry.model import Change, Consumer, Place
from contract_guard.report import Screen
from contract_guard.report.json_format import encode
from contract_guard.text import line_start, plural, printable

_MOST_SILENT = 5
_MOST_FILES = 10
_MOST_NAMED = 5
_MOST_VALUE = 80  # characters
_STYLES: dict[Impact | None, str] = {
    "collection-error": "bold red",
    "runtime-error": "red",
    "always-skipped": "yellow",
}

_CODES = {
    "bold": "\x1b[1m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
}


class CommitLine(msgspec.Struct, frozen=True):
    """A commit as it is named in a report."""

    oid: str
    date: str
    subject: str


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a report on changes may show; `commits` by oid, `seconds` of the run.
    `mending` says which findings `--fix` would mend, "" to leave that out."""

    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]
    commits: Mapping[str, CommitLine]
    lost: TestsLost | None
    conflicts: tuple[str, ...]
    files: int
    tests: int
    seconds: float
    mending: str = ""


class _Line(msgspec.Struct, frozen=True):
    text: str
    style: str = ""


def render_text(drift: Drift, screen: Screen) -> str:
    """A block a change: what happened, who made it, and a line a consumer. Changes whose consumers
    all followed, and additions, are only named, a line a kind."""
    found = {(f.path, f.line): f for f in drift.findings}
    lines: list[_Line] = []
    rest: list[Change] = []
    for change in drift.changes:
        if change.kind != "added" and any(_stays(c) for c in change.consumers):
            lines += _block(change, drift, found, screen)
        else:
            rest.append(change)
    lines += _alone(drift)
    if screen.summary:
        lines += map(_Line, _named(rest, screen))
    lines += [_Line(text, style) for text, style in summary_lines(drift, screen)]
    return "".join(f"{_styled(line, screen)}\n" for line in lines)


def _alone(drift: Drift) -> list[_Line]:
    """The findings that are on no consumer of a change, each with what to do."""
    consumers = {(c.path, c.line) for change in drift.changes for c in change.consumers}
    lines: list[_Line] = []
    for finding in drift.findings:
        if (finding.path, finding.line) not in consumers:
            where = line_start(f"{finding.path}:{finding.line}")
            lines.append(_Line(f"{where}: {finding.rule} {printable(finding.message)}"))
            lines += [_Line(f"    help: {printable(finding.help)}"), _Line("")]
    return lines


def _named(changes: Iterable[Change], screen: Screen) -> list[str]:
    """`renamed, with all consumers: gate.ids:PAD -> END, ...`."""
    by_kind: dict[str, list[Change]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    lines: list[str] = []
    for kind, same in sorted(by_kind.items()):
        names = [_short(change) for change in (same if screen.notes else same[:_MOST_NAMED])]
        more = len(same) - len(names)
        also = f" and {more:,} more (--format json)" if more else ""
        followed = "" if kind == "added" else ", with all consumers"
        lines.append(f"{kind}{followed}: {', '.join(names)}{also}")
    return [*lines, ""] if lines else []


def _short(change: Change) -> str:
    symbol = printable(change.symbol)
    if change.kind == "value-changed":
        return f"{symbol} {_values(change)}"
    if change.replacement is None or change.replacement == change.symbol:
        return symbol
    module, _, name = change.replacement.partition(":")
    is_near = name and module == change.symbol.partition(":")[0]
    return f"{symbol} -> {printable(name if is_near else change.replacement)}"


def _styled(line: _Line, screen: Screen) -> str:
    """By ANSI codes: a run whose result is kept has no time to load more than that."""
    codes = "".join(_CODES[word] for word in line.style.split())
    return f"{codes}{line.text}\x1b[0m" if codes and screen.color else line.text


def _stays(consumer: Consumer) -> bool:
    return not consumer.updated and consumer.impact is not None


def _block(
    change: Change, drift: Drift, found: Mapping[tuple[str, int], Finding], screen: Screen
) -> list[_Line]:
    lines = [_Line(headline(change), "bold")]
    commit = drift.commits.get(change.commit or "")
    if commit is not None:
        lines.append(_Line(f"  {commit.oid[:10]} {commit.date[:10]} {printable(commit.subject)}"))
    staying = [consumer for consumer in change.consumers if _stays(consumer)]
    broken = [consumer for consumer in staying if consumer.impact != "silent"]
    silent = [consumer for consumer in staying if consumer.impact == "silent"]
    shown = silent if screen.notes else silent[:_MOST_SILENT]
    said = ""
    for consumer in (*broken, *shown):
        lines.append(_Line(f"  {consumer_line(consumer)}", _STYLES.get(consumer.impact, "")))
        finding = found.get((consumer.path, consumer.line))
        is_silent = consumer.impact == "silent"
        if finding is None or (finding.impact == "silent") != is_silent:
            continue
        # Of what breaks, the line above says why; of what does not, the finding does.
        text = finding.message if is_silent else f"help: {finding.help}"
        if text != said:
            lines.append(_Line(f"    {printable(text)}"))
            said = text
    if len(silent) > len(shown):
        lines.append(_Line(f"  and {len(silent) - len(shown):,} more that stay silent"))
    if updated := sum(consumer.updated for consumer in change.consumers):
        lines.append(_Line(f"  {plural(updated, 'consumer')} updated in this change"))
    lines.append(_Line(""))
    return lines


def headline(change: Change) -> str:
    """`removed gate.constants:PAD = 3 (gate/constants.py:9)`."""
    symbol = printable(change.symbol)
    if change.old is None and change.new is None:
        return f"not there: {symbol}, which is named for the first time"
    if change.kind in ("value-changed", "rule-changed"):
        before, after = _value(change.old), _value(change.new)
        where = _where(change.new or change.old)
        if not before and not after:
            return f"{change.kind} {symbol} ({where})"
        if change.kind == "rule-changed":
            accepted = f"accepts {after}, " + (f"was {before}" if before else "a new rule")
            return f"rule-changed {symbol}: {accepted} ({where})"
        if before == after:  # it changed before the older revision
            return f"a former value of {symbol}, now {_cut(after)} ({where})"
        return f"value-changed {symbol}: {_values(change)} ({where})"
    if change.kind in ("signature-changed", "default-changed"):
        return f"{change.kind} {symbol}: {_values(change)} ({_where(change.new or change.old)})"
    value = _value(change.old)
    text = f"{change.kind} {symbol}" + (f" = {_cut(value)}" if value else "")
    if change.replacement is not None and change.replacement != change.symbol:
        text += f" -> {printable(change.replacement)}"
    return f"{text} ({_where(change.old or change.new)})"


def _value(place: Place | None) -> str:
    return printable(place.value) if place is not None and place.value is not None else ""


def _values(change: Change) -> str:
    """`3 -> 4`; of long collections and signatures, what went and came: `- 'a', + 'b'`."""
    before, after = _value(change.old), _value(change.new)
    if max(len(before), len(after)) > _MOST_VALUE:
        was, now = _members(before), _members(after)
        parts = [f"- {m}" for m in was if m not in now] + [f"+ {m}" for m in now if m not in was]
        if parts:
            more = len(parts) - _MOST_NAMED
            return ", ".join(parts[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return f"{_cut(before)} -> {_cut(after)}"


def _members(value: str) -> list[str]:
    """The texts of the members of a list, tuple or set, or of the parameters of a signature; [] for
    anything else."""
    signature = [f"lambda {value[1:-1]}: 0"] if value.startswith("(") else []
    for text in (value, *signature):
        try:
            node = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [_cut(ast.unparse(member)) for member in node.elts]
        if isinstance(node, ast.Lambda):
            return [_cut(parameter) for parameter in _parameters(node.args)]
    return []


def _parameters(given: ast.arguments) -> Iterator[str]:
    positional = [*given.posonlyargs, *given.args]
    without: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    defaults = [*without, *given.defaults, *given.kw_defaults]
    for parameter, default in zip([*positional, *given.kwonlyargs], defaults, strict=True):
        yield parameter.arg + (f"={ast.unparse(default)}" if default is not None else "")
    if given.vararg is not None:
        yield f"*{given.vararg.arg}"
    if given.kwarg is not None:
        yield f"**{given.kwarg.arg}"


def _cut(value: str) -> str:
    return value if len(value) <= _MOST_VALUE else f"{value[: _MOST_VALUE - 1]}…"


def _where(place: Place | None) -> str:
    return f"{printable(place.path)}:{place.line}" if place is not None else ""


def consumer_line(consumer: Consumer) -> str:
    """`tests/test_x.py:12: import: collection error, 28 tests lost`."""
    costs = [(consumer.impact or "").replace("-", " ")]
    if (lost := consumer.tests_lost) is not None:
        at_least = "" if lost.exact else "at least "
        costs.append(f"{at_least}{plural(lost.count, 'test')} lost")
    if consumer.origin == "merge":
        costs.append("only when merged")
    where = line_start(f"{consumer.path}:{consumer.line}")
    return f"{where}: {consumer.form}: {', '.join(costs)}"


def summary_lines(drift: Drift, screen: Screen) -> list[tuple[str, str]]:
    """What stands at the end, as lines with their styles."""
    if not screen.summary:
        return []
    lines: list[tuple[str, str]] = []
    if drift.conflicts:
        listed = ", ".join(map(printable, drift.conflicts[:_MOST_FILES]))
        more = len(drift.conflicts) - _MOST_FILES
        lines.append(
            (
                f"Merging conflicts in {listed}{f' and {more} more' if more > 0 else ''}:"
                " nothing is said of those files.",
                "yellow",
            )
        )
    if drift.lost is not None:
        by_file = Counter(test.partition("::")[0] for test in drift.lost.ids)
        at_least = "" if drift.lost.exact else "at least "
        lines.append(
            (f"{at_least}{plural(drift.lost.count, 'test')} lost at collection:", "bold red")
        )
        shown = by_file.most_common(_MOST_FILES)
        lines += [(f"  {line_start(path)}", "") for path, _ in shown]
        if len(by_file) > len(shown):
            lines.append((f"  and {plural(len(by_file) - len(shown), 'more file')}", ""))
    if drift.mending:
        lines.append((drift.mending, ""))
    lines.append((verdict(drift), "" if drift.findings else "green"))
    return lines


def verdict(drift: Drift) -> str:
    """The last line: how many changes, and what became of their consumers."""
    kinds = Counter(change.kind for change in drift.changes)
    places = [consumer for change in drift.changes for consumer in change.consumers]
    broken = sum(_stays(c) and c.impact != "silent" for c in places)
    silent = sum(_stays(c) and c.impact == "silent" for c in places)
    looked_at = f"{plural(drift.files, 'file')}, {plural(drift.tests, 'test')} looked at."
    if not drift.changes:
        return f"No contract changed. {looked_at}"
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{plural(len(drift.changes), 'contract')} changed ({listed}): "
        f"{plural(broken, 'consumer')} broken, {silent:,} silent. {looked_at}"
    )


def render_json(drift: Drift) -> str:
    """The form that docs/json.md pins."""
    return encode(
        {
            "version": 1,
            "tool": {"name": "contract-guard", "version": __version__},
            "changes": drift.changes,
            "findings": drift.findings,
            "commits": list(drift.commits.values()),
            "summary": {
                "changes": dict(sorted(Counter(c.kind for c in drift.changes).items())),
                "consumers": _consumer_counts(drift.changes),
                "tests_lost": drift.lost,
                "conflicts": drift.conflicts,
                "files": drift.files,
                "tests": drift.tests,
                "seconds": drift.seconds,
            },
        }
    )


def _consumer_counts(changes: Iterable[Change]) -> dict[str, int]:
    counts = Counter(
        "updated" if c.updated else (c.impact or "none") for ch in changes for c in ch.consumers
    )
    return dict(sorted(counts.items()))
