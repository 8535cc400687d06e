"""Any revision of a git repository, read without a checkout.

The repository is hostile: its configuration may name programs (filters, textconv, fsmonitor,
merge drivers, an ssh command for lazy fetching). So git is asked through a git directory of our
own, in a temporary place, whose configuration is ours, and which borrows the repository's objects
(as alternates) and references (as links). Nothing in the repository is run, fetched or written.
"""

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from contract_guard.errors import UserError

_REFERENCES = ("refs", "packed-refs", "reftable", "logs", "shallow")
_PSEUDO_REFERENCES = ("HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD")
_QUESTIONS = (
    "--git-dir",
    "--git-common-dir",
    "--show-object-format",
    "--is-inside-work-tree",
    "--show-prefix",
)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_VERSION = re.compile(
    r"\x01([0-9a-f]{40,64})\t([^\t\0]*)\t([^\0]*)\0|:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) \w+\0"
)
_SYMLINK, _SUBMODULE = "120000", "160000"


class Blob(NamedTuple):
    """A regular file of a tree. `oid` is hexadecimal, in the repository's object format."""

    path: str
    oid: str


class GitTree(NamedTuple):
    """`outside` are the paths of links that lead out of the folder."""

    files: list[Blob]
    outside: list[str]


class Commit(NamedTuple):
    oid: str
    date: str  # ISO 8601, of the committer
    subject: str


class Versions(NamedTuple):
    """What a commit made of one file: for each parent, the oids of the file there and in the
    commit, None where there is none."""

    commit: Commit
    sides: list[tuple[str | None, str | None]]


class Hunk(NamedTuple):
    """Lines of an old text and what stands there in the new one, from 1. Where a side has none, its
    line is the one before."""

    old_line: int
    old_count: int
    new_line: int
    new_count: int


class Repository(AbstractContextManager["Repository"]):
    """The repository that holds `folder`. Use as a context manager: it owns a temporary folder.

    `own` is its git directory. `prefix` is the place of `folder` below the top of the work tree,
    "" or "sub/dir/". Paths given and returned are relative to `folder`. `has_work_tree` is false in
    a bare repository.

    Raises UserError where there is no git, or `folder` is in no repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        answer = self._ask(
            ["-C", str(folder), "rev-parse", "--path-format=absolute", *_QUESTIONS],
            environment=_environment(),
            failure=f"{folder}: not in a git repository",
        )
        own, common, object_format, inside, prefix = (*answer.split("\n"), "", "")[:5]
        self.prefix = prefix
        self.has_work_tree = inside == "true"
        self._is_partial = any(Path(common, "objects", "pack").glob("*.promisor"))
        self.own = Path(own).resolve()
        self._scratch = tempfile.TemporaryDirectory(prefix="contract-guard-")
        borrow(Path(own), Path(common), object_format, Path(self._scratch.name))
        self._environment = {**_environment(), "GIT_DIR": self._scratch.name}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._scratch.cleanup()

    def resolve(self, revision: str) -> str:
        """The oid of the commit that `revision` names. Raises UserError where there is none."""
        failure = f"unknown revision {revision!r}; `git rev-parse {revision}` must name a commit"
        if ".." in revision:
            older, _, newer = revision.partition("..")
            newer = newer.removeprefix(".") or "HEAD"
            raise UserError(f"{revision!r} is a range: write `diff {older or 'HEAD'} {newer}`")
        if not revision or revision.startswith("-"):
            raise UserError(failure)
        return self._git(
            ["rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"],
            failure=failure,
        ).strip()

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits, None where they have none."""
        output = self._git(["merge-base", one, other], failure="", allow=(1,))
        return output.split("\n", 1)[0] or None

    @property
    def is_unborn(self) -> bool:
        """Whether there is no commit yet."""
        return not self._git(["rev-parse", "--verify", "--quiet", "HEAD"], failure="", allow=(1,))

    @property
    def merge_heads(self) -> list[str]:
        """The commits that a merge under way brings in."""
        place = Path(self._scratch.name) / "MERGE_HEAD"
        return place.read_text("ascii").split() if place.is_file() else []

    def has_staged(self) -> bool:
        """Whether the index holds anything else than HEAD does."""
        index = self.own / "index"
        if self.is_unborn or not index.is_file():
            return index.is_file()
        place = Path(self._scratch.name)
        (place / "index").write_bytes(index.read_bytes())
        for shared in self.own.glob("sharedindex.*"):
            (place / shared.name).symlink_to(shared)
        listing = self._git(
            ["diff-index", "--cached", "--name-only", "--no-ext-diff", "HEAD", "--"],
            failure="cannot compare the index with HEAD",
        )
        return bool(listing)

    def hunks(self, old: bytes, new: bytes) -> list[Hunk]:
        """Where two texts differ, in their order."""
        with tempfile.TemporaryDirectory(dir=self._scratch.name) as folder:
            for name, content in (("old", old), ("new", new)):
                (Path(folder) / name).write_bytes(content)
            how = ("--no-index", "--unified=0", "--no-ext-diff", "--no-textconv", "--text")
            output = self._git(
                ["-C", folder, "diff", *how, "--", "old", "new"], failure="", allow=(1,)
            )
        numbers = (match.groups() for match in _HUNK.finditer(output))
        return [Hunk(*(int(n) if n is not None else 1 for n in found)) for found in numbers]

    def files(self, commit: str) -> list[Blob]:
        """All regular files of a commit, below the folder, with those that symbolic links lead to;
        submodules are left out. Paths that are not UTF-8 carry surrogates, as `os.fsdecode` gives
        them."""
        return self.tree(commit).files

    def tree(self, commit: str) -> "GitTree":
        """The same, with the links that lead out of the folder."""
        listing = self._git(
            ["ls-tree", "-r", "-z", "--full-tree", commit]
            + (["--", self.prefix] if self.prefix else []),
            failure=f"cannot read the tree of {commit}",
        )
        blobs: list[Blob] = []
        links: list[Blob] = []
        for entry in listing.split("\0"):
            head, tab, path = entry.partition("\t")
            if tab:
                mode, _, oid = head.split(" ")
                if mode != _SUBMODULE:
                    list_ = links if mode == _SYMLINK else blobs
                    list_.append(Blob(path[len(self.prefix) :], oid))
        if not links:
            return GitTree(blobs, [])
        from contract_guard.project.git_links import follow_links

        texts = [os.fsdecode(text) for _, text in self.read([link.oid for link in links])]
        targets = {link.path: text for link, text in zip(links, texts, strict=True)}
        linked = follow_links(dict(blobs), targets)
        return GitTree(
            sorted(blobs + [Blob(*each) for each in linked.files.items()]), linked.outside
        )

    def blob(self, commit: str, path: str) -> str | None:
        """The oid of one file of a commit, None where it has none of that path."""
        entry = self._git(
            ["ls-tree", "-z", "--full-tree", commit, "--", self.prefix + path],
            failure=f"cannot read the tree of {commit}",
        )
        head, tab, _ = entry.partition("\t")
        return head.split(" ")[2] if tab and " blob " in head else None

    def read(self, oids: Sequence[str]) -> Generator[tuple[str, bytes], None, None]:
        """The bytes of each blob, in the order given.

        Raises UserError for one that is missing, as in a partial clone, or corrupt.
        """
        if not oids:
            return
        process = subprocess.Popen(
            ["git", "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        writer = threading.Thread(target=_feed, args=(process.stdin, oids), daemon=True)
        writer.start()
        try:
            for oid in oids:
                yield oid, self._receive(process.stdout, oid)
        finally:
            process.kill()
            process.stdout.close()
            writer.join()
            if process.stderr is not None:
                process.stderr.close()
            process.wait()

    def grep(
        self, commit: str, texts: Sequence[str], patterns: Sequence[str]
    ) -> Iterator[tuple[str, int, str]]:
        """Whole words of a commit's files: path, line number and line for each line that has one
        of `texts`. `patterns` are globs of the paths to look in."""
        if not texts:
            return
        words = [argument for text in texts for argument in ("-e", text)]
        where = [f":(glob){self.prefix}**/{pattern}" for pattern in patterns]
        output = self._git(
            ["grep", "-n", "-z", "-I", "-w", "-F", "--full-name", *words, commit, "--", *where],
            failure=f"cannot search {commit}",
            allow=(1,),
        )
        for entry in output.splitlines():
            path, number, line = entry.split("\0", 2)
            yield path.removeprefix(f"{commit}:")[len(self.prefix) :], int(number), line

    def merge_file(self, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
        """The three-way merge of a file's contents, None where the two sides conflict.

        The work is done on temporary plain files: no merge driver of the repository is asked.
        """
        names = ("ours", "base", "theirs")
        with tempfile.TemporaryDirectory(dir=self._scratch.name) as folder:
            for name, content in zip(names, (ours, base, theirs), strict=True):
                (Path(folder) / name).write_bytes(content)
            done = subprocess.run(
                ["git", "-C", folder, "merge-file", "-p", "-q", *names],
                env=self._environment,
                capture_output=True,
                check=False,
            )
        return done.stdout if done.returncode == 0 else None

    def log(self, revisions: str, paths: Sequence[str], limit: int = 200) -> list[Commit]:
        """Commits of a range (`a..b`) that touched any of `paths`, newest first."""
        how = (f"-{limit}", "-z", "--format=%H%x09%cI%x09%s", "--no-show-signature")
        output = self._git(
            ["log", *how, revisions, "--", *(self.prefix + path for path in paths)],
            failure=f"cannot read the history {revisions}",
        )
        return [Commit(*entry.split("\t", 2)) for entry in output.split("\0") if entry]

    def versions(self, revisions: str, path: str, limit: int) -> list[Versions]:
        """What the commits of a range made of one file, newest first, those alone that touched it:
        a merge only where it has the file as none of its parents has it."""
        how = (f"-{limit}", "-z", "--format=%x01%H%x09%cI%x09%s", "--no-show-signature")
        sides = ("--raw", "--no-abbrev", "--no-renames", "--root", "-m")
        output = self._git(
            ["--literal-pathspecs", "log", *how, *sides, revisions, "--", self.prefix + path],
            failure=f"cannot read the history {revisions}",
        )
        found: dict[str, Versions] = {}
        here: list[tuple[str | None, str | None]] = []
        for oid, date, subject, old, new in _VERSION.findall(output):
            if oid:
                here = found.setdefault(oid, Versions(Commit(oid, date, subject), [])).sides
            else:
                here.append((old if old.strip("0") else None, new if new.strip("0") else None))
        return [each for each in found.values() if each.sides]

    def touching(
        self, words: Sequence[str], commit: str, paths: Sequence[str], limit: int
    ) -> list[Commit]:
        """Commits up to `commit`, newest first, that brought one of `words` (letters and digits)
        into one of `paths`, or took it out; without those that have no parent."""
        if self._is_partial or not words or not paths:
            return []
        how = (f"-{limit}", "-z", "--format=%H%x09%cI%x09%s", "--no-show-signature")
        pattern = ("--min-parents=1", "--no-textconv", "--pickaxe-regex", f"-S{'|'.join(words)}")
        output = self._git(
            ["log", *how, *pattern, commit, "--", *(self.prefix + path for path in paths)],
            failure=f"cannot read the history of {commit}",
        )
        return [Commit(*entry.split("\t", 2)) for entry in output.split("\0") if entry]

    def _receive(self, stream: IO[bytes], oid: str) -> bytes:
        header = stream.readline().split()
        if len(header) == 3 and header[1] == b"blob":
            data = stream.read(int(header[2]) + 1)
            if len(data) == int(header[2]) + 1:
                return data[:-1]
        if header[1:] == [b"missing"] and self._is_partial:
            raise UserError(
                f"object {oid} is not in this partial clone; fetch what is missing with:"
                f" git -C {self._folder} fetch --refetch --no-filter"
            )
        raise UserError(
            f"object {oid} is missing or damaged; `git -C {self._folder} fsck` says what is broken"
        )

    def _git(self, arguments: list[str], *, failure: str, allow: tuple[int, ...] = ()) -> str:
        return self._ask(arguments, environment=self._environment, failure=failure, allow=allow)

    def _ask(
        self,
        arguments: list[str],
        *,
        environment: Mapping[str, str],
        failure: str,
        allow: tuple[int, ...] = (),
    ) -> str:
        try:
            done = subprocess.run(
                ["git", *arguments], env=environment, capture_output=True, check=False
            )
        except FileNotFoundError:
            raise UserError("git is not installed, or not on PATH") from None
        if done.returncode != 0 and done.returncode not in allow:
            complaint = os.fsdecode(done.stderr).strip().splitlines()
            detail = f" ({complaint[-1]})" if complaint else ""
            raise UserError((failure or "git failed") + detail)
        return os.fsdecode(done.stdout)


def borrow(own: Path, common: Path, object_format: str, place: Path) -> None:
    """Make `place` a bare git directory over another's objects and references.

    `own` is the git directory of the work tree, `common` the one that it shares.
    """
    reftable = (common / "reftable").is_dir()
    newer = object_format not in {"", "sha1"} or reftable
    config = f"[core]\n\trepositoryformatversion = {int(newer)}\n\tbare = true\n"
    if newer:
        config += f"[extensions]\n\tobjectformat = {object_format or 'sha1'}\n"
        config += "\trefstorage = reftable\n" if reftable else ""
    (place / "config").write_text(config, "utf-8")
    for name in _REFERENCES:
        if (common / name).exists():
            (place / name).symlink_to(common / name)
    for name in _PSEUDO_REFERENCES:
        if (own / name).exists():
            # Copied: git takes a HEAD that is a link for an old form of reference.
            (place / name).write_bytes((own / name).read_bytes())
    information = place / "objects" / "info"
    information.mkdir(parents=True)
    # The first character of a quoted path keeps one that begins with "#" from being a comment.
    quoted = str(common / "objects").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    (information / "alternates").write_text(f'"{quoted}"\n', "utf-8", "surrogateescape")


def _environment() -> dict[str, str]:
    """This process's environment without what steers git elsewhere, and with its programs off."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _feed(stream: IO[bytes], oids: Iterable[str]) -> None:
    try:
        for oid in oids:
            stream.write(oid.encode() + b"\n")
        stream.close()
    except BrokenPipeError:
        # The reader gave up, and says why.
        return
