"""`contract-guard registry`."""

import click

from contract_guard.errors import UserError


@click.command("registry")
def command() -> None:
    """Not part of this version yet."""
    raise UserError("'registry' is not part of this version yet")
