"""`python -m contract_guard`: the same as the command `contract-guard`."""

from contract_guard.cli.main import main

main()
