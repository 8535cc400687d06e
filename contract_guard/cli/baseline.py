"""`contract-guard baseline`."""

import click

from contract_guard.errors import UserError


@click.command("baseline")
def command() -> None:
    """Not part of this version yet."""
    raise UserError("'baseline' is not part of this version yet")
