"""Checks the errors of a release diff against the sources, by text and syntax alone.

    python benchmarks/release_errors.py REPORT.json NEW OLD [--impact runtime-error]

REPORT.json is `diff OLD NEW --consumers OLD --format json`; NEW and OLD are the wheels of both
releases, unpacked. Nothing of contract_guard takes part: a name counts as gone where the newer
module's file does not have it as a word, or binds it by no statement, and the older one does; a
module, where there is no file. The rest is listed, to be read by hand.
"""

import argparse
import ast
import io
import json
import tokenize
from pathlib import Path


def place(site: Path, dotted: str) -> Path | None:
    below = site / dotted.replace(".", "/")
    candidates = (below.with_suffix(".py"), below / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def has_word(path: Path, name: str) -> bool:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    return any(token.type == tokenize.NAME and token.string == name for token in tokens)


def binds(path: Path, name: str) -> bool:
    """Whether any statement outside of functions and classes binds the name."""
    pending: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == name:
                return True
            continue
        if isinstance(node, ast.alias) and name in (node.asname or node.name, "*"):
            return True
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
        pending += ast.iter_child_nodes(node)
    return False


def is_gone(site: Path, symbol: str) -> bool:
    module, _, name = symbol.partition(":")
    path = place(site, module)
    if not name:
        return path is None and not (site / module.replace(".", "/")).is_dir()
    return path is not None and not (has_word(path, name) and binds(path, name))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("old", type=Path)
    parser.add_argument("--impact", default="collection-error")
    options = parser.parse_args()
    report = json.loads(options.report.read_text("utf-8"))
    errors = [
        finding
        for finding in report["findings"]
        if finding["impact"] == options.impact and finding["rule"] != "CG107"
    ]
    confirmed = 0
    for finding in errors:
        symbol = finding["symbol"]
        if is_gone(options.new, symbol) and not is_gone(options.old, symbol):
            confirmed += 1
        else:
            print(f"by hand: {finding['path']}:{finding['line']} {symbol}")
    print(f"{len(errors)} of {options.impact}, {confirmed} confirmed by the text of the sources")


if __name__ == "__main__":
    main()
