"""`contracts.lock` on disk."""

from pathlib import Path

from contract_guard.detectors.locks import LOCK_PATH
from contract_guard.errors import UserError
from contract_guard.project.text_file import read_text, replace_text
from contract_guard.registry.lock import Locked, LockError, dump, parse

_IF_ABSENT = "there is none here; `contract-guard registry update` writes it"


def read_lock(root: Path) -> tuple[dict[str, Locked], str]:
    """The contracts of the lock, and its text.

    Raises UserError where there is none, or it cannot be read as one.
    """
    text = read_text(root / LOCK_PATH, LOCK_PATH, _IF_ABSENT)
    try:
        return parse(text), text
    except LockError as error:
        raise UserError(f"{LOCK_PATH}: {error}") from None


def write_lock(root: Path, locked: dict[str, Locked]) -> bool:
    """Replace the lock by one of these contracts; False where it says the same already.

    Raises UserError where it cannot be written; the old one then stays as it was.
    """
    return replace_text(root / LOCK_PATH, LOCK_PATH, dump(locked.values()))
