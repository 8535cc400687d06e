"""A file replaced as a whole: the new bytes or the old ones, never a part."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def replace_whole(
    path: Path,
    content: bytes,
    *,
    like: os.stat_result | None = None,
    check: Callable[[], None] | None = None,
) -> None:
    """`content` becomes the file `path`, beside which it is written first: a link is replaced by
    the file, not followed.

    `like` gives it mode and, where that is allowed, owner of another file. `check` is called when
    all is written; what it raises leaves the file as it was. Raises OSError.
    """
    # No name that somebody else could have put a link at; short, for names that are long already.
    temporary = path.with_name(f".{path.name[:40]}.{os.urandom(8).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if like is not None:
            temporary.chmod(stat.S_IMODE(like.st_mode))
            with suppress(PermissionError):
                os.chown(temporary, like.st_uid, like.st_gid)
        if check is not None:
            check()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
