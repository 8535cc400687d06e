"""`contract-guard check`."""

import click

from contract_guard.errors import UserError


@click.command("check")
def command() -> None:
    """Not part of this version yet."""
    raise UserError("'check' is not part of this version yet")
