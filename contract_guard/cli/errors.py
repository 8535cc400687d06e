"""Exit codes, and how a failure is said."""

import traceback

import click

from contract_guard import __version__
from contract_guard.errors import UserError

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_FAILED = 2

__all__ = ["EXIT_CLEAN", "EXIT_FAILED", "EXIT_FINDINGS", "UserError", "report_internal_fault"]


def report_internal_fault(error: BaseException) -> None:
    """Say on standard error that this program failed, with what a bug report needs."""
    click.echo(
        f"contract-guard {__version__}: internal fault: {type(error).__name__}: {error}\n"
        "This is a bug in contract-guard, not in your code. Please report it with these lines:",
        err=True,
    )
    for line in traceback.format_exception(error)[-6:]:
        click.echo("  " + line.rstrip().replace("\n", "\n  "), err=True)
