"""`contract-guard gate`."""

import click

from contract_guard.errors import UserError


@click.command("gate")
def command() -> None:
    """Not part of this version yet."""
    raise UserError("'gate' is not part of this version yet")
