"""Writes what the documents show of the program's own words and output: `make docs`.

A page a rule in `docs/rules/`, the help texts in `docs/commands.md`, the marked blocks of
`README.md`, and the picture `docs/check.svg`.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from contract_guard.cli.main import cli
from contract_guard.project.rule_examples import rule_examples
from contract_guard.project.rules import Rule, load_rules

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100


def rule_page(rule: Rule) -> str:
    """What `explain` says, as markdown."""
    lines = [f"# {rule.id} {rule.name}", "", f"Severity: {rule.severity}.", "", rule.summary, ""]
    lines += [rule.why.strip(), "", "## How to fix", "", rule.how_to_fix.strip(), ""]
    examples = rule_examples(rule.id)
    if examples:
        lines += ["## Lines that it reports", "", f"From [`rules/{rule.id}/bad`](../../rules)."]
        for example in examples:
            expected = example.expected.replace(f"{rule.id} ", "")
            lines += ["", f"`{example.path}:{example.line}`: {expected}"]
            lines += ["", "```python", example.code, "```"]
    return "\n".join(lines).rstrip() + "\n"


def rule_table() -> str:
    rows = [
        f"| [{rule.id}](docs/rules/{rule.id}.md) | {rule.name} | {rule.severity} | {rule.summary} |"
        for rule in load_rules().values()
    ]
    return "\n".join(["| id | name | severity | what it reports |", "|---|---|---|---|", *rows])


def breaking_commit(*, color: bool) -> str:
    """What `check` prints at the commit of `examples/pad_free` that removes the constant."""
    variables = {"COLUMNS": str(WIDTH), "FORCE_COLOR" if color else "NO_COLOR": "1"}
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory) / "pad_free"
        replay = ROOT / "examples" / "pad_free" / "replay.py"
        subprocess.run([sys.executable, str(replay), str(project)], check=True, capture_output=True)
        subprocess.run(["git", "checkout", "--quiet", "removal"], cwd=project, check=True)
        program = "from contract_guard.cli.main import main; main()"
        command = [sys.executable, "-c", program, "check", "--no-cache", "--format", "rich"]
        done = subprocess.run(
            command, cwd=project, env=kept | variables, capture_output=True, text=True
        )
    if done.returncode != 1:
        sys.exit(f"the example is expected to have findings: exit {done.returncode} {done.stderr}")
    return done.stdout.rstrip()


def with_blocks(readme: str) -> str:
    """The README with its marked blocks as they have to be."""
    output = f"```console\n$ contract-guard check\n{breaking_commit(color=False)}\n```"
    for name, block in {"output": output, "rules": rule_table()}.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        whole = f"{start}\n{block}\n{end}"
        readme, count = pattern.subn(lambda _, whole=whole: whole, readme)
        if count != 1:
            sys.exit(f"README.md: expected one block {start}, found {count}")
    return readme


def picture() -> str:
    console = Console(record=True, file=io.StringIO(), width=WIDTH)
    console.print(Text("$ contract-guard check"))
    console.print(Text.from_ansi(breaking_commit(color=True)))
    picture = console.export_svg(title="contract-guard check")
    # The fonts would come from elsewhere; the reader's own do as well.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def command_page() -> str:
    """The help text of every command."""
    lines = ["# Commands", ""]
    with click.Context(cli, info_name="contract-guard", **cli.context_settings) as context:
        for below in contexts(context):
            text = below.command.get_help(below)
            lines += [f"## {below.command_path}", "", "```text", text, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def contexts(context: click.Context) -> Iterator[click.Context]:
    """The command's context and those of all below it."""
    context.terminal_width = WIDTH
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None:
                yield from contexts(click.Context(command, parent=context, info_name=name))


def main() -> None:
    pages = ROOT / "docs" / "rules"
    pages.mkdir(exist_ok=True)
    for page in pages.glob("CG*.md"):
        page.unlink()
    for rule in load_rules().values():
        (pages / f"{rule.id}.md").write_text(rule_page(rule), "utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_blocks(readme.read_text("utf-8")), "utf-8")
    (ROOT / "docs" / "commands.md").write_text(command_page(), "utf-8")
    (ROOT / "docs" / "check.svg").write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
