"""`contract-guard diff`."""

import click

from contract_guard.errors import UserError


@click.command("diff")
def command() -> None:
    """Not part of this version yet."""
    raise UserError("'diff' is not part of this version yet")
