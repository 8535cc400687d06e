"""`python -m contract_guard`: the same as the command `contract-guard`."""

import sys

# `-m` looks for modules in the working directory first, which is that of the analysed project.
if not sys.flags.safe_path:
    del sys.path[0]

from contract_guard.cli.main import main

main()
