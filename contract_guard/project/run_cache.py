"""The result of a whole run, kept for as long as nothing that it depends on changes.

Two calls: `look_up` before anything heavy is imported, `keep` after the work is done. A result
is bytes of the caller's making.
"""

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from contract_guard.project.cache import Cache, code_stamp, is_settled
from contract_guard.project.config import Config
from contract_guard.project.discovery import Found, FoundFile, discover
from contract_guard.project.pytest_settings import read_pytest_settings
from contract_guard.project.rules import rules_directory


class Lookup(NamedTuple):
    """`result` is None where the run has to be made; `found` then saves it the walk.

    `project_key` stands for all that `key` does but the files: for runs of the same kind over
    another state of the project.
    """

    found: Found
    result: bytes | None
    key: bytes
    project_key: bytes
    at_ns: int
    cache_dir: Path | None


def look_up(
    root: Path, config: Config, options: Mapping[str, object], *, cache_dir: Path | None
) -> Lookup:
    """The result of the same run over the same bytes, if it was kept.

    `options` is all else that the result depends on, of types that MessagePack has: selected
    paths, rules, formats, the revisions and versions that were compared. Without `cache_dir`
    nothing is found and nothing kept.

    Raises UserError for settings of pytest that cannot be parsed.
    """
    now = time.time_ns()
    found = discover(root, exclude=config.exclude)
    if cache_dir is None:
        return Lookup(found, None, b"", b"", now, None)
    package = Path(__file__).parent.parent
    project = (
        str(root.absolute()),
        code_stamp(package),
        code_stamp(rules_directory()),
        config,
        read_pytest_settings(root),
        sorted(options.items()),
    )
    key, project_key = (
        hashlib.sha256(msgspec.msgpack.encode(depends_on)).digest()
        for depends_on in ((project, found), ("project", project))
    )
    with Cache(cache_dir) as cache:
        return Lookup(found, cache.result(key), key, project_key, now, cache_dir)


def keep(lookup: Lookup, stamps: Mapping[str, FoundFile], result: bytes) -> None:
    """Keep the result of the run that began with `lookup`.

    `stamps` are those of the bytes that were read (`Snapshot.stamps`). Nothing is kept where a
    file could not be read this time, changed during the run, or changed so shortly before that
    its stamp may not show the next change.
    """
    found = lookup.found
    if lookup.cache_dir is None or any(stamps.get(file.path) != file for file in found.python):
        return
    if not all(is_settled(file, lookup.at_ns) for file in (*found.python, *found.build)):
        return
    with Cache(lookup.cache_dir) as cache:
        cache.keep_result(lookup.key, result)
