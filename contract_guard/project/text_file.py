"""Text files that this tool keeps in a project: read as a whole, replaced as a whole."""

import stat
from pathlib import Path

from contract_guard.errors import UserError
from contract_guard.project.whole_file import replace_whole

LARGEST = 64 << 20
_NO_FILE = "it is no regular file"


def read_text(path: Path, name: str, if_absent: str) -> str:
    """The text of the file, which messages call `name`. Raises UserError, with `if_absent` where
    there is none."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{name}: cannot be read: {_NO_FILE}")
        if status.st_size > LARGEST:
            raise UserError(f"{name}: larger than {LARGEST >> 20} MB")
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UserError(f"{name}: {if_absent}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{name}: cannot be read: {error}") from None


def replace_text(path: Path, name: str, text: str) -> bool:
    """Make `text` the content of the file; False where it is that already.

    Raises UserError where it cannot be written; the old one then stays as it was.
    """
    content = text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{name}: cannot be written: {_NO_FILE}")
        if path.is_file() and path.read_bytes() == content:
            return False
        replace_whole(path, content)
    except OSError as error:
        raise UserError(f"{name}: cannot be written: {error.strerror}") from None
    return True
