"""CG105: a guarded import that can never succeed takes the name from where it lives now, or the
guard goes and what it fell back on stays."""

import ast
import textwrap

from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes import modules, moved
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Fix, Knowledge


def dead_guard(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """Unsafe where only the fallback stays: what was always skipped stays skipped, and shows it."""
    imp = file.import_at(finding.line, finding.column)
    try:
        if ":" not in finding.symbol:
            return modules.missing_module(file, finding, knowledge)
        if imp.form == "from":
            return moved.missing_name(file, finding, knowledge)
    except CannotFix:
        if imp.form == "importorskip":
            raise
    return _fallback(file, finding)


def _fallback(file: File, finding: Finding) -> Fix:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Try) and node.lineno < finding.line <= node.body[0].lineno:
            break
    else:
        raise CannotFix("the import is not the first thing that its `try` does")
    if len(node.handlers) != 1 or node.finalbody or node.handlers[0].name:
        raise CannotFix("its `try` does more than fall back")
    if not isinstance(node.body[0], ast.Import | ast.ImportFrom):
        raise CannotFix("the import is not the first thing that its `try` does")
    handler = node.handlers[0].body
    before = file.source.lines[node.lineno - 1][: node.col_offset]
    if before.strip() or any(not isinstance(each, ast.Assign) for each in handler):
        raise CannotFix("the fallback is more than assignments")
    first, last = handler[0], handler[-1]
    lines = file.source.lines[first.lineno - 1 : last.end_lineno]
    if first.lineno == node.handlers[0].lineno or any('"""' in line for line in lines):
        raise CannotFix("the fallback cannot be moved out of its block")
    text = textwrap.indent(textwrap.dedent("\n".join(lines)), before)
    end = node.end_lineno or node.lineno
    span = Span(node.lineno, 1, end, len(file.source.lines[end - 1]) + 1)
    return Fix("unsafe", "what it falls back on stays", (file.edit(span, text),))
