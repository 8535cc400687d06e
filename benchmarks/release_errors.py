"""Checks the collection errors of a release diff against the sources, by text alone.

    python benchmarks/release_errors.py REPORT.json SITE

REPORT.json is `diff OLD NEW --consumers OLD --format json`; SITE is the newer release's wheel,
unpacked. Nothing of contract_guard takes part: a name counts as gone where the module's file does
not have it as a word, or only in comments and strings; a module, where there is no file. The rest
is listed, to be read by hand.
"""

import io
import json
import sys
import tokenize
from pathlib import Path


def place(site: Path, dotted: str) -> Path | None:
    below = site / dotted.replace(".", "/")
    candidates = (below.with_suffix(".py"), below / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def has_word(path: Path, name: str) -> bool:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    return any(token.type == tokenize.NAME and token.string == name for token in tokens)


def main() -> None:
    report, site = json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2])
    errors = [f for f in report["findings"] if f["impact"] == "collection-error"]
    confirmed = 0
    for finding in errors:
        module, _, name = finding["symbol"].partition(":")
        path = place(site, module)
        is_gone = path is None and not (site / module.replace(".", "/")).is_dir()
        if name:
            is_gone = path is not None and not has_word(path, name)
        confirmed += is_gone
        if not is_gone:
            print(f"by hand: {finding['path']}:{finding['line']} {finding['symbol']}")
    print(f"{len(errors)} collection errors, {confirmed} confirmed by the text of the sources")


if __name__ == "__main__":
    main()
