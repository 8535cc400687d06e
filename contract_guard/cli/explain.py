"""`contract-guard explain`."""

import difflib

import click

from contract_guard.cli.errors import UserError
from contract_guard.cli.options import json_or_text
from contract_guard.cli.output import write
from contract_guard.project.config import rules_near
from contract_guard.project.rule_examples import Example, rule_examples
from contract_guard.project.rules import Rule, load_rules

_MOST_EXAMPLES = 6


@click.command("explain")
@click.argument("rule")
@json_or_text
def command(rule: str, format: str) -> None:
    """Explain a rule, by its id (CG101) or its name (missing-name): what it reports and why, how
    to fix it, and lines that it would report."""
    found = _find(rule)
    examples = rule_examples(found.id)
    if format == "json":
        import msgspec

        from contract_guard.report.json_format import encode

        write(encode(msgspec.structs.asdict(found) | {"examples": examples}), None)
        return
    write(_text(found, examples), None)


def _find(name: str) -> Rule:
    rules = load_rules()
    for rule in rules.values():
        if name.upper() == rule.id or name.lower() == rule.name:
            return rule
    if near := rules_near(name):
        raise UserError(f"there is no rule {name!r}; there are {near}")
    words = [rule.name for rule in rules.values()]
    close = difflib.get_close_matches(name.lower(), words, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else "'contract-guard rules' lists them all"
    raise UserError(f"there is no rule {name!r}; {hint}")


def _text(rule: Rule, examples: list[Example]) -> str:
    parts = [
        f"{rule.id} {rule.name} ({rule.severity})\n\n{rule.summary}",
        rule.why.strip(),
        f"How to fix\n\n{rule.how_to_fix.strip()}",
    ]
    # A line that ends in a comma is part of a longer statement, and says little alone.
    alone = [e for e in examples if not e.code.endswith((",", "("))][:_MOST_EXAMPLES]
    if alone:
        lines = ["Lines that it reports", ""]
        for example in alone:
            expected = example.expected.replace(f"{rule.id} ", "")
            lines += [f"    {example.path}:{example.line}: {expected}", f"        {example.code}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
