"""`contract-guard rules`."""

import click

from contract_guard.cli.options import json_or_text
from contract_guard.cli.output import write
from contract_guard.project.rules import load_rules


@click.command("rules")
@json_or_text
def command(format: str) -> None:
    """List all rules: id, severity, name, and what each one reports."""
    rules = load_rules().values()
    if format == "json":
        import msgspec

        from contract_guard.report.json_format import encode

        write(encode([msgspec.structs.asdict(rule) for rule in rules]), None)
        return
    width = max(len(rule.name) for rule in rules)
    lines = [
        f"{rule.id}  {rule.severity:<7}  {rule.name:<{width}}  {rule.summary}\n" for rule in rules
    ]
    write("".join(lines), None)
