"""`check --confirm`: the findings with what running both sides told."""

from pathlib import Path

import msgspec

from contract_guard.cli.progress import progress
from contract_guard.project.check import Checked


def with_confirmation(root: Path, checked: Checked, wanted: bool) -> Checked:
    """`wanted` says whether progress may be shown. Raises UserError where torch or Hypothesis is
    not installed."""
    from contract_guard.project.confirm import confirmed

    with progress("contract-guard: running copies beside production", wanted=wanted):
        return msgspec.structs.replace(checked, findings=confirmed(root, checked.findings))
