"""The evidence as one self-contained HTML file: gate x property matrix, where each drift lies,
its minimal case, and the record of each run. All text is escaped; nothing is loaded from anywhere.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import cast

from contract_guard.gates.evidence import Entry

WORDS = ("agree", "drift", "unverified", "error", "n/a")
PLOT_WIDTH, PLOT_HEIGHT, PLOT_MARGIN = 640, 140, 28

STYLE = """
:root { color-scheme: light dark; --line: #8884; --agree: #2e7d32; --drift: #c62828;
  --unverified: #b26a00; --error: #8e24aa; --quiet: #8889; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2rem .5rem; }
thead th { vertical-align: bottom; } tbody th { text-align: left; font-weight: 500; }
th.turned span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; }
td.agree { background: color-mix(in srgb, var(--agree) 22%, transparent); }
td.drift { background: color-mix(in srgb, var(--drift) 38%, transparent); }
td.unverified { background: color-mix(in srgb, var(--unverified) 22%, transparent); }
td.error { background: color-mix(in srgb, var(--error) 38%, transparent); }
td.n-a { color: var(--quiet); } td { text-align: center; }
.wide { overflow-x: auto; } pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); }
section { margin-top: 2rem; border-top: 1px solid var(--line); } dt { font-weight: 600; }
dd { margin: 0 0 .3rem 1rem; overflow-wrap: anywhere; }
h1, h2, h3 { overflow-wrap: anywhere; } figure { margin: 0 0 1rem; }
svg { max-width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; }
"""


def render(entries: Sequence[Entry]) -> str:
    """The page for the latest run of each gate, mirror and device, in the order of the gates."""
    latest: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        latest[(entry.gate, entry.mirror or "", entry.device)] = entry
    shown = [latest[key] for key in sorted(latest)]
    body = [
        "<h1>Gates</h1>",
        f"<p>{escape(_summary(shown))}</p>",
        _matrix(shown),
        *(_section(number, entry) for number, entry in enumerate(shown)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        f"<title>Gates</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _summary(entries: Sequence[Entry]) -> str:
    counts = {word: sum(entry.verdict == word for entry in entries) for word in WORDS}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none"
    rows = sum(entry.rows for entry in entries)
    runs = "1 run" if len(entries) == 1 else f"{len(entries)} runs"
    return f"{runs}: {said}; {rows:,} rows."


def _matrix(entries: Sequence[Entry]) -> str:
    names: dict[str, None] = {}
    for entry in entries:
        names |= dict.fromkeys(entry.properties)
    heads = "".join(f'<th class="turned" scope="col"><span>{escape(n)}</span></th>' for n in names)
    rows: list[str] = []
    for number, entry in enumerate(entries):
        cells = "".join(_cell(str(entry.properties.get(name, ""))) for name in names)
        rows.append(
            f'<tr><th scope="row"><a href="#run-{number}">{escape(_name(entry))}</a></th>'
            f"<td>{escape(str(entry.device))}</td>{_cell(str(entry.verdict))}{cells}</tr>"
        )
    return (
        '<div class="wide"><table><thead><tr><th scope="col">gate</th><th scope="col">device</th>'
        f'<th scope="col">verdict</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody>'
        "</table></div>"
    )


def _cell(status: str) -> str:
    word = next((word for word in WORDS if status.startswith(word)), "")
    kind = word.replace("/", "-")
    return f'<td class="{kind}" title="{escape(status)}">{escape(word)}</td>'


def _name(entry: Entry) -> str:
    return entry.gate if entry.mirror is None else f"{entry.gate} / {entry.mirror}"


def _section(number: int, entry: Entry) -> str:
    facts: dict[str, object] = {
        "verdict": entry.verdict,
        "reason": entry.reason,
        "device": entry.device,
        "rows": f"{entry.rows:,} in {entry.cases} cases, {entry.seconds:.2f} s",
        "excused": f"{entry.excused:.3%} of the rows without ties",
        "digest": entry.digest,
        "mirror digest": entry.mirror_digest,
        "versions": ", ".join(f"{name} {version}" for name, version in entry.versions.items()),
        "seed": entry.seed,
        "time": entry.time,
    }
    listed = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>"
        for name, value in facts.items()
        if value not in (None, "")
    )
    drifts = "".join(_bucket(bucket) for bucket in entry.buckets)
    return (
        f'<section id="run-{number}"><h2>{escape(_name(entry))}</h2>'
        f"<dl>{listed}</dl>{drifts}</section>"
    )


def _bucket(bucket: Mapping[str, object]) -> str:
    minimal = bucket.get("minimal")
    values = dict(cast("Mapping[str, object]", minimal)) if isinstance(minimal, Mapping) else {}
    where = values.pop("where", None)
    plot = _plot(cast("Mapping[str, object]", where)) if isinstance(where, Mapping) else ""
    case = json.dumps(values, indent=1, ensure_ascii=False, default=str)
    return (
        f"<h3>{escape(str(bucket.get('label')))}: {escape(str(bucket.get('count')))} rows</h3>"
        f"{plot}<pre>{escape(case)}</pre><pre>{escape(str(bucket.get('replay')))}</pre>"
    )


def _plot(where: Mapping[str, object]) -> str:
    """Share of tokens that drift, a bar for each bin; bins in which no token fell stay empty."""
    bins, seen, drifting = (_numbers(where.get(name)) for name in ("bins", "seen", "drifting"))
    if not bins or not len(bins) == len(seen) == len(drifting):
        return ""
    axis = str(where.get("axis", ""))
    step = PLOT_WIDTH / len(bins)
    bars: list[str] = []
    for place, (value, total, bad) in enumerate(zip(bins, seen, drifting, strict=True)):
        share = bad / total if total else 0.0
        height = share * PLOT_HEIGHT
        said = f"{axis} {value:g}: {bad:g} of {total:g} tokens drift"
        ground = "" if total else ' opacity="0"'
        bars.append(
            f"<g{ground}><title>{escape(said)}</title>"
            f'<rect x="{place * step:.1f}" y="0" width="{step * 0.9:.1f}" height="{PLOT_HEIGHT}" '
            f'fill="currentColor" opacity="0.06"/>'
            f'<rect x="{place * step:.1f}" y="{PLOT_HEIGHT - height:.1f}" '
            f'width="{step * 0.9:.1f}" height="{height:.1f}" fill="var(--drift)"/></g>'
        )
    ticks = sorted({0, len(bins) // 2, len(bins) - 1})
    marks = "".join(
        f'<text x="{(tick + 0.45) * step:.1f}" y="{PLOT_HEIGHT + 13}" '
        f'text-anchor="middle">{bins[tick]:g}</text>'
        for tick in ticks
    )
    caption = f"share of tokens that drift, by {axis}"
    return (
        f'<figure><svg viewBox="-24 -4 {PLOT_WIDTH + 48} {PLOT_HEIGHT + PLOT_MARGIN}" '
        f'width="{PLOT_WIDTH}" role="img" aria-label="{escape(caption)}">'
        f"{''.join(bars)}{marks}"
        f'<text x="-4" y="8" text-anchor="end">1</text>'
        f'<text x="-4" y="{PLOT_HEIGHT}" text-anchor="end">0</text></svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _numbers(value: object) -> list[float]:
    if not isinstance(value, list | tuple):
        return []
    items = cast("Sequence[object]", value)
    return [float(item) for item in items if isinstance(item, int | float)]
