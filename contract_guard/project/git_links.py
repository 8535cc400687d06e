"""Symbolic links of a git tree, followed as `discovery` follows them in a checkout."""

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

# As many links in a row as Linux follows.
_MOST_STEPS = 40


class Linked(NamedTuple):
    """`files` are what links lead to, oids by the path that has the link in it. `outside` are links
    that lead out of the tree: something may be there in a checkout."""

    files: dict[str, str]
    outside: list[str]


def follow_links(blobs: Mapping[str, str], links: Mapping[str, str]) -> Linked:
    """What the links lead to, given all regular files as oids by path, and links as targets by
    path. A directory is entered by one link only, and not from inside of itself or of another
    linked one."""
    found = Linked({}, [])
    directories: dict[str, str] = {}
    for path in sorted(links):
        target = _resolved(path, links)
        if target is None:
            continue
        if target == ".." or target.startswith(("../", "/")):
            found.outside.append(path)
        elif target in blobs:
            found.files[path] = blobs[target]
        elif f"{posixpath.dirname(path)}/".startswith(f"{target}/") or target in (".", ""):
            continue
        else:
            directories.setdefault(target, path)
    if directories:
        known = {**blobs, **found.files}
        for target, path in directories.items():
            start = f"{target}/"
            for inner, oid in known.items():
                if inner.startswith(start):
                    found.files[f"{path}/{inner[len(start) :]}"] = oid
    return found


def _resolved(path: str, links: Mapping[str, str]) -> str | None:
    """The path without links that a link leads to, None where it leads in a circle."""
    for _ in range(_MOST_STEPS):
        path = posixpath.normpath(path)
        parts = path.split("/")
        heads = ("/".join(parts[: length + 1]) for length in range(len(parts)))
        link = next((head for head in heads if head in links), None)
        if link is None:
            return path
        # A target that is absolute takes the place of all that stands before it.
        path = posixpath.join(posixpath.dirname(link), links[link], path[len(link) + 1 :])
    return None
