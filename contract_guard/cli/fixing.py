"""`--fix`, `--diff` and `--unsafe-fixes`: what was mended, shown or written."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from contract_guard.cli.errors import EXIT_CLEAN, EXIT_FINDINGS, say
from contract_guard.cli.output import write
from contract_guard.errors import UserError
from contract_guard.findings import Finding
from contract_guard.project.git_index import find_git_directory
from contract_guard.report.listing import mending
from contract_guard.text import plural, printable

if TYPE_CHECKING:
    from contract_guard.project.mending import Mended

Command = Callable[..., Any]

_TOLD = "contract_guard.told_of_fixes"
_GONE = ("CG101", "CG102", "CG103", "CG104")


class Fixing(NamedTuple):
    """What of the three options was given. `diff` shows the edits and writes nothing."""

    fix: bool
    diff: bool
    unsafe: bool

    @property
    def is_wanted(self) -> bool:
        return self.fix or self.diff


def fix_options(command: Command) -> Command:
    """`--fix`, `--diff` and `--unsafe-fixes`, as parameters `fix`, `show_diff`, `unsafe_fixes`."""
    for option in (
        click.option(
            "--unsafe-fixes",
            is_flag=True,
            help="With --fix or --diff: fixes too that may change what a test checks.",
        ),
        click.option(
            "--diff",
            "show_diff",
            is_flag=True,
            help="Show what --fix would write; write nothing.",
        ),
        click.option("--fix", is_flag=True, help="Mend what can be mended; report what is left."),
    ):
        command = option(command)
    return command


def extract_options(command: Command) -> Command:
    """`--extract` and `--name`, as parameters `extract` and `name`."""
    extract = click.option(
        "--extract",
        metavar="PATH:LINE",
        help="Move the rule that a test repeats there (CG303) out of production, into a function "
        "that both call. With --diff only shown.",
    )
    name = click.option("--name", default="", help="With --extract: the name of the function.")
    return extract(name(command))


def chosen(fix: bool, show_diff: bool, unsafe_fixes: bool) -> Fixing:
    """Raises UserError where the options contradict each other."""
    if fix and show_diff:
        raise UserError("--fix writes and --diff only shows: give one of them")
    if unsafe_fixes and not (fix or show_diff):
        raise UserError("--unsafe-fixes goes with --fix or --diff")
    return Fixing(fix, show_diff, unsafe_fixes)


def extracts(extract: str | None, name: str, fixing: Fixing) -> bool:
    """Whether a rule is to be moved out. Raises UserError where the options contradict each
    other."""
    if extract is None:
        if name:
            raise UserError("--name goes with --extract")
        return False
    if fixing.fix:
        raise UserError("--extract writes by itself: leave out --fix")
    return True


def hint(findings: Iterable[Finding]) -> str:
    """What `--fix` would mend, in a line; "" where it was asked to and has told by itself."""
    if click.get_current_context().meta.get(_TOLD):
        return ""
    return mending(findings)


def check_hint(findings: Sequence[Finding], root: Path) -> str:
    """The same for a `check`, and that a comparison may know what took the place of a name."""
    told = hint(findings)
    gone = sum(finding.rule in _GONE and finding.fixable == "no" for finding in findings)
    if not gone or find_git_directory(root.resolve()) is None:
        return told
    more = f"{gone:,} more" if told else plural(gone, "finding")
    compared = "`contract-guard diff HEAD --fix` (or an older revision than HEAD)"
    return f"{told} {compared} may mend {more}.".lstrip()


def finish(
    root: Path, mended: "Mended", fixing: Fixing, output_file: Path | None, quiet: bool
) -> int | None:
    """Write what was mended and run the command again for what is left, or show it as a unified
    diff. The exit code; None where nothing is to be mended, and the report is still to be made."""
    context = click.get_current_context()
    context.meta[_TOLD] = True
    if not quiet:
        _tell(mended, fixing)
    if not mended.files:
        return None
    if fixing.diff:
        write(unified_diff(mended), output_file)
        return EXIT_CLEAN if context.params.get("exit_zero") else EXIT_FINDINGS
    from contract_guard.project.fixing import write_files

    refused = dict(write_files(root, mended))
    for path, reason in refused.items():
        say(f"{path}: left as it is: {reason}")
    written = mended.files.keys() - refused.keys()
    findings = sum(finding.path in written for finding, _ in mended.fixed)
    if not quiet and mended.fixed:
        say(f"{plural(findings, 'finding')} mended in {plural(len(written), 'file')}")
    off = {"fix": False, "show_diff": False, "unsafe_fixes": False, "extract": None, "name": ""}
    again = {k: off.get(k, value) for k, value in context.params.items()}
    return context.invoke(context.command, **again)


def _tell(mended: "Mended", fixing: Fixing) -> None:
    for title in mended.titles:
        say(title)
    for path, left in sorted({(f.path, fix.left) for f, fix in mended.fixed if fix.left}):
        say(f"{path}: {left}: to be looked at")
    for finding, reason in mended.refused:
        if finding.fixable != "no" or mended.knows_changes:
            say(f"{finding.path}:{finding.line}: {finding.rule} not mended: {reason}")
    if mended.unsafe and not fixing.unsafe:
        say(f"{plural(len(mended.unsafe), 'more finding')} can be mended with --unsafe-fixes")


def unified_diff(mended: "Mended") -> str:
    """What `--fix` would write, as `git diff` and `patch` read it."""
    from contract_guard.detectors.statement import decode

    lines: list[str] = []
    for path, (before, after) in sorted(mended.files.items()):
        name = printable(path)
        pair = (_lines(decode(before)), _lines(decode(after)))
        lines += difflib.unified_diff(*pair, f"a/{name}", f"b/{name}", lineterm="")
    return "".join("\t".join(map(printable, line.split("\t"))) + "\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as Python and `patch` count them: a form feed ends none."""
    lines = re.split(r"\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]
