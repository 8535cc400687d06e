"""`--fix`, `--diff` and `--unsafe-fixes`: what was mended, shown or written."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from contract_guard.cli.errors import say
from contract_guard.errors import UserError
from contract_guard.text import plural, printable

if TYPE_CHECKING:
    from contract_guard.project.mending import Mended

Command = Callable[..., Any]


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


def chosen(fix: bool, show_diff: bool, unsafe_fixes: bool) -> Fixing:
    """Raises UserError where the options contradict each other."""
    if fix and show_diff:
        raise UserError("--fix writes and --diff only shows: give one of them")
    if unsafe_fixes and not (fix or show_diff):
        raise UserError("--unsafe-fixes goes with --fix or --diff")
    return Fixing(fix, show_diff, unsafe_fixes)


def settle(root: Path, mended: "Mended", fixing: Fixing, *, quiet: bool = False) -> str:
    """Write what was mended, or give it as a unified diff; why something stays is said on standard
    error. Returns the diff, "" with `fix`."""
    if fixing.diff:
        shown = unified_diff(mended)
    else:
        shown = ""
        from contract_guard.project.fixing import write_files

        refused = dict(write_files(root, mended))
        for path, reason in refused.items():
            say(f"{path}: left as it is: {reason}")
        written = [fixed for fixed in mended.fixed if fixed[0].path not in refused]
        files = len(mended.files) - len(refused)
        if not quiet:
            say(f"{plural(len(written), 'finding')} mended in {plural(files, 'file')}")
    if not quiet:
        for finding, reason in mended.refused:
            say(f"{finding.path}:{finding.line}: {finding.rule} not mended: {reason}")
        if mended.unsafe and not fixing.unsafe:
            say(f"{plural(len(mended.unsafe), 'finding')} more would be mended with --unsafe-fixes")
    return shown


def unified_diff(mended: "Mended") -> str:
    """What `--fix` would write, as `git diff` and `patch` read it."""
    from contract_guard.detectors.statement import decode

    lines: list[str] = []
    for path, (before, after) in sorted(mended.files.items()):
        name = printable(path)
        pair = (decode(before).splitlines(), decode(after).splitlines())
        lines += difflib.unified_diff(*pair, f"a/{name}", f"b/{name}", lineterm="")
    return "".join("\t".join(map(printable, line.split("\t"))) + "\n" for line in lines)
