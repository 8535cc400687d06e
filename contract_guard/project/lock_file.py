"""`contracts.lock` on disk: read as a whole, replaced as a whole."""

import os
from pathlib import Path

from contract_guard.detectors.locks import LOCK_PATH
from contract_guard.errors import UserError
from contract_guard.registry.lock import Locked, LockError, dump, parse

LARGEST_LOCK = 64 << 20


def read_lock(root: Path) -> tuple[dict[str, Locked], str]:
    """The contracts of the lock, and its text.

    Raises UserError where there is none, or it cannot be read as one.
    """
    path = root / LOCK_PATH
    try:
        if path.stat().st_size > LARGEST_LOCK:
            raise UserError(f"{LOCK_PATH}: larger than {LARGEST_LOCK >> 20} MB")
        text = path.read_text("utf-8")
        return parse(text), text
    except FileNotFoundError:
        raise UserError(
            f"{LOCK_PATH}: there is none here; `contract-guard registry update` writes it"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{LOCK_PATH}: cannot be read: {error}") from None
    except LockError as error:
        raise UserError(f"{LOCK_PATH}: {error}") from None


def write_lock(root: Path, locked: dict[str, Locked]) -> bool:
    """Replace the lock by one of these contracts; False where it says the same already.

    Raises UserError where it cannot be written; the old one then stays as it was.
    """
    path = root / LOCK_PATH
    text = dump(locked.values())
    temporary = path.with_name(f".{LOCK_PATH}.{os.getpid()}")
    try:
        if path.is_file() and path.read_bytes() == text.encode("utf-8", "backslashreplace"):
            return False
        try:
            temporary.write_text(text, "utf-8", "backslashreplace", newline="\n")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{LOCK_PATH}: cannot be written: {error.strerror}") from None
    return True
