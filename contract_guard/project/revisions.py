"""The trees that `diff` compares: two revisions, or a revision and the working tree, and what
their merge would give.

Nothing is checked out. What is excluded, and how names are looked for, is what the configuration
of the working tree says, for every revision.
"""

import functools
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.project.cache import Cache, code_stamp
from contract_guard.project.config import Config
from contract_guard.project.discovery import (
    FOREIGN_MARKS,
    NOT_UTF8,
    SKIPPED_DIRECTORIES,
    Found,
    FoundFile,
    Unlisted,
    is_text,
    list_for,
    printable,
)
from contract_guard.project.encoding import decode, decode_plain, decode_result
from contract_guard.project.git_objects import Blob, GitTree, Repository
from contract_guard.project.ignore import exclude_spec
from contract_guard.project.pytest_settings import SOURCES, PytestSettings, read_pytest_settings

if TYPE_CHECKING:
    from contract_guard.project.merging import Merged, State

_SKIPPED = SKIPPED_DIRECTORIES | FOREIGN_MARKS


class Revisions:
    """`base` and `head` (None: the working tree) of the repository that holds `root`.

    With `merge`, what the author of `head` did is told from the best common ancestor of both, as
    a pull request shows it; without, the two are compared as they stand. Use as a context
    manager.

    Raises UserError for a revision that is none, with `merge` where there is no common ancestor,
    and without `head` where there is no working tree.
    """

    def __init__(
        self,
        root: Path,
        config: Config,
        base: str,
        head: str | None,
        *,
        merge: bool = True,
        jobs: int | None = None,
        cache_dir: Path | None = None,
        fragments: bool = True,
    ) -> None:
        self.root = root
        self._config = config
        self._cache_dir = cache_dir
        self._jobs = jobs
        self.warnings: list[str] = []
        # What the walk through the working tree gave a moment ago, if it was made.
        self.found: Found | None = None
        self._fragments = fragments
        self._decode = functools.cache(decode if fragments else decode_plain)
        self._exits = ExitStack()
        self.repository = self._exits.enter_context(Repository(root))
        try:
            if head is None and not self.repository.has_work_tree:
                raise UserError(f"{root}: no working tree here: name both revisions")
            self.base = self.repository.resolve(base)
            self.head = self.repository.resolve(head or "HEAD")
            ancestor = self.repository.merge_base(self.base, self.head) if merge else self.base
            if ancestor is None:
                raise UserError(
                    f"{base!r} and {head or 'HEAD'!r} have no common ancestor here: fetch more of"
                    " the history (git fetch --unshallow), or compare them as they stand with"
                    " --no-merge"
                )
        except BaseException:
            self._exits.close()
            raise
        if merge and head is not None and ancestor == self.head != self.base:
            self.warnings.append(
                f"{head} is an ancestor of {base}: it changed nothing; the older revision comes"
                f" first (`diff {head} {base}`), or --no-merge compares them as they stand"
            )
        self.ancestor: str = ancestor
        self.is_working_tree = head is None

    def __enter__(self) -> "Revisions":
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    @property
    def needs_merge(self) -> bool:
        """Whether merging gives anything but `head`."""
        return self.ancestor != self.base

    @cached_property
    def _states(self) -> "dict[str, State]":
        """The states of all commits that take part, read together: what they share is one value."""
        # What reads files is not needed where the result was kept.
        from contract_guard.project.gather import gather_blobs
        from contract_guard.project.pool import default_jobs

        commits = [self.ancestor]
        if self.needs_merge:
            commits.append(self.base)
        if not self.is_working_tree and self.head not in commits:
            commits.append(self.head)
        listings = {
            commit: _listing(self.repository.tree(commit), self._config.exclude)
            for commit in commits
        }
        with Cache(self._cache_dir) as cache:
            blobs = {
                Blob(f"{commit}:{file.path}", listing.oids[file.path])
                for commit, listing in listings.items()
                for file in listing.found.python
            }
            jobs = self._jobs or default_jobs()
            facts = gather_blobs(
                sorted(blobs),
                self.repository.read,
                cache,
                jobs,
                self._decode,
                fragments=self._fragments,
            )
            states = {
                commit: self._state(commit, listing, facts, cache)
                for commit, listing in listings.items()
            }
            if cache.warning is not None:
                self.warnings.append(cache.warning)
        return states

    @property
    def old(self) -> "State":
        """What the change set out from."""
        return self._states[self.ancestor]

    @cached_property
    def new(self) -> "State":
        """What the change made of it."""
        from contract_guard.project.merging import State
        from contract_guard.project.snapshot import load

        if not self.is_working_tree:
            return self._states[self.head]
        snapshot = load(
            self.root,
            self._config,
            jobs=self._jobs,
            cache_dir=self._cache_dir,
            found=self.found,
            decode=self._decode,
            fragments=self._fragments,
        )
        self.warnings += snapshot.warnings
        return State(snapshot.tree, snapshot.read, snapshot.unreadable)

    @property
    def other(self) -> "State":
        """What `base` is by now."""
        return self._states[self.base]

    @cached_property
    def merged(self) -> "Merged":
        """`base` with the change merged into it."""
        from contract_guard.project.merging import merge

        return merge(self.old, self.new, self.other, self.repository.merge_file)

    def _state(
        self,
        commit: str,
        listing: "_Listing",
        facts: Mapping[str, ModuleFacts | Unreadable],
        cache: Cache,
    ) -> "State":
        from contract_guard.project.merging import State, unreadable_in
        from contract_guard.project.snapshot import make_tree

        files = {file.path: facts[f"{commit}:{file.path}"] for file in listing.found.python}
        hints = self._hints(listing, cache)
        tree = make_tree(files, listing.found, hints, self._config, self._settings(listing))
        known: dict[str, bytes] = {}

        def read(path: str) -> bytes:
            if path not in known:
                ((_, known[path]),) = self.repository.read([listing.oids[path]])
            return known[path]

        unlisted = {
            each.path: Unreadable("unreadable", each.reason) for each in listing.found.unlisted
        }
        return State(tree, read, unreadable_in(files) | unlisted)

    def _hints(self, listing: "_Listing", cache: Cache) -> frozenset[str]:
        """Kept as long as no build file and no path changes."""
        from contract_guard.project.build_hints import build_hints, hint_sources

        paths = [file.path for file in listing.found.python]
        sources = hint_sources(listing.found.build, listing.found.python)
        oids = [listing.oids[file.path] for file in sources]
        code = code_stamp(Path(__file__).parent) if cache.is_open else b""
        key = hashlib.sha256(
            msgspec.msgpack.encode(("hints", code, oids, [file.path for file in sources], paths))
        ).digest()
        kept = decode_result(cache.result(key), frozenset[str])
        if kept is not None:
            return kept
        texts = (text for _, text in self.repository.read(oids))
        hints = build_hints(
            ((file.path, text) for file, text in zip(sources, texts, strict=False)), paths
        )
        cache.keep_result(key, msgspec.msgpack.encode(hints))
        return hints

    def _settings(self, listing: "_Listing") -> PytestSettings:
        """pytest's settings: their files, written to where the reader finds them."""
        names = [path for path in listing.oids if path.rpartition("/")[2] in SOURCES]
        with tempfile.TemporaryDirectory(prefix="contract-guard-") as folder:
            texts = self.repository.read([listing.oids[name] for name in names])
            for name, (_, text) in zip(names, texts, strict=True):
                place = Path(folder) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text)
            return read_pytest_settings(Path(folder), names)


class _Listing(NamedTuple):
    """The files of a commit that count, and git's names of their contents by path."""

    found: Found
    oids: dict[str, str]


def _unlisted(path: str) -> Unlisted:
    """The file, or the directory around it, of which the name is not UTF-8."""
    parts = path.split("/")
    places = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return Unlisted(printable(next(place for place in places if not is_text(place))), NOT_UTF8)


def _listing(tree: GitTree, exclude: Sequence[str]) -> _Listing:
    """What `discovery.discover` would find in a checkout of it."""
    spec = exclude_spec(exclude)
    found = Found([], [], [], [])
    oids: dict[str, str] = {}
    environments = tuple(
        path.rpartition("/")[0] + "/" for path, _ in tree.files if path.endswith("/pyvenv.cfg")
    )
    for path, oid in tree.files:
        *directories, name = path.split("/")
        list_ = list_for(found, name)
        if list_ is None and path not in SOURCES:
            continue
        if not _SKIPPED.isdisjoint(directories) or path.startswith(environments):
            continue
        if spec is not None and spec.check_file(path).include:
            continue
        if not is_text(path):
            found.unlisted.append(_unlisted(path))
            continue
        oids[path] = oid
        if list_ is not None:
            list_.append(FoundFile(path, 0, 0, 0, 0))
    # A module may well be there in a checkout.
    found.compiled.extend(FoundFile(path, 0, 0, 0, 0) for path in tree.outside if is_text(path))
    return _Listing(found, oids)
