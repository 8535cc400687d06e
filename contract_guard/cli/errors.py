"""Exit codes, and how a failure is said."""

import traceback
from difflib import SequenceMatcher

import click

from contract_guard import __version__
from contract_guard.errors import UserError
from contract_guard.text import printable

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_FAILED = 2

_MOST_TRACEBACK_LINES = 16
_CLOSE = 0.7  # more alike than click asks for: the dashes are the same in all options

__all__ = [
    "EXIT_CLEAN",
    "EXIT_FAILED",
    "EXIT_FINDINGS",
    "UserError",
    "report_internal_fault",
    "report_misuse",
    "say",
]


def say(message: str) -> None:
    """One line on standard error, whatever the message holds."""
    click.echo(f"contract-guard: {printable(message)}", err=True)


def report_misuse(error: click.ClickException) -> None:
    """What is wrong with the command line, in one line, and where its options are listed."""
    if isinstance(error, click.NoSuchOption):
        close = [o for o in error.possibilities or () if _is_close(error.option_name, o)]
        error = click.NoSuchOption(error.option_name, error.message, close, error.ctx)
    message = error.format_message().strip()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        message = f"{message.rstrip('.')} (see '{context.command_path} --help')"
    say(" ".join(message.split("\n")))


def _is_close(given: str, option: str) -> bool:
    return SequenceMatcher(None, given.strip("-"), option.strip("-")).ratio() >= _CLOSE


def report_internal_fault(error: BaseException) -> None:
    """Say on standard error that this program failed, with what a bug report needs."""
    lines = [line for entry in traceback.format_exception(error) for line in entry.splitlines()]
    summary = str(error).strip().rpartition("\n")[2]
    click.echo(
        f"contract-guard {__version__}: internal fault: "
        f"{type(error).__name__}: {printable(summary)}\n"
        "This is a bug in contract-guard, not in your code. Please report it with these lines:",
        err=True,
    )
    for line in lines[-_MOST_TRACEBACK_LINES:]:
        click.echo(f"  {printable(line)}", err=True)
