"""What a `check` says of its own arguments, where they ask for less than may have been meant."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from contract_guard.project.check import Checked

_OF_LOCKS = "CG5"


def notices(checked: Checked, paths: Sequence[Path], select: Sequence[str]) -> Iterator[str]:
    if any(chosen.startswith(_OF_LOCKS) for chosen in select):
        yield f"{_OF_LOCKS} rules are about the lock: `contract-guard registry verify` reports them"
    if paths and not checked.selected:
        yield f"warning: no Python file of the project in {', '.join(map(str, paths))}"
