"""Fixes made in passes, in memory, until none is left; each file checked again after its edits."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from contract_guard.facts.extract import extract as extract_facts
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge
from contract_guard.fixes.plan import fix_for
from contract_guard.fixes.text import edited, overlaps
from contract_guard.project.extraction import extract
from contract_guard.registry.index import Registry, build

Read = Callable[[str], bytes]
Find = Callable[[Registry, Read, Collection[str]], Sequence[Finding]]
"""The findings of a registry in some of its files."""

# Passes that mend something. Those that mend nothing end by themselves: each gives a finding up, or
# takes the fixes of one more file apart.
MOST_PASSES = 50


@dataclass(slots=True)
class Mended:
    """`files` holds the bytes before and after of each changed file. `refused` tells why a finding
    stays; `unsafe` are those that only an unsafe fix would mend. `knows_changes` is set where an
    older revision was there to tell what took the place of what. `titles` say what was done for
    no finding. `together` are files that one fix changes: all of them, or none."""

    files: dict[str, tuple[bytes, bytes]] = field(default_factory=dict[str, tuple[bytes, bytes]])
    fixed: list[tuple[Finding, Fix]] = field(default_factory=list[tuple[Finding, Fix]])
    refused: list[tuple[Finding, str]] = field(default_factory=list[tuple[Finding, str]])
    unsafe: list[tuple[Finding, Fix]] = field(default_factory=list[tuple[Finding, Fix]])
    knows_changes: bool = False
    titles: list[str] = field(default_factory=list[str])
    together: list[frozenset[str]] = field(default_factory=list[frozenset[str]])


def mend(
    knowledge: Knowledge,
    findings: Iterable[Finding],
    find: Find,
    *,
    unsafe: bool = False,
    fragments: bool = False,
) -> Mended:
    """The fixes of `findings`, which `find` has to find again in the project of `knowledge`: with
    `fragments` where it looks at those.

    Nothing is written. A fix is kept where its finding is gone afterwards and the files that it
    changes have no finding more than before. It ends for any fixes: those that lead back to where
    the files were before are not made, and after `MOST_PASSES` the rest is refused.
    """
    return _Mending(knowledge, find, unsafe, extract if fragments else extract_facts).run(findings)


def mend_one(knowledge: Knowledge, fix: Fix, find: Find) -> dict[str, tuple[bytes, bytes]]:
    """The bytes before and after of the files that one fix changes, for no finding of its own.

    Raises CannotFix where it would bring a finding.
    """
    mending = _Mending(knowledge, find, True, extract_facts)
    return mending.one(fix)


@dataclass(frozen=True, slots=True)
class _Attempt:
    finding: Finding
    fix: Fix

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(edit.path for edit in self.fix.edits)

    @property
    def paths(self) -> frozenset[str]:
        """What it changes, and where its finding has to be gone."""
        return self.changed | {self.finding.path}


class _Mending:
    def __init__(
        self,
        knowledge: Knowledge,
        find: Find,
        unsafe: bool,
        extract: Callable[[bytes], ModuleFacts | Unreadable],
    ) -> None:
        self._extract = extract
        self._knowledge = knowledge
        self._first_read = knowledge.read
        self._find = find
        self._unsafe = unsafe
        self._contents: dict[str, bytes] = {}
        self._given_up: set[tuple[str, str, str]] = set()
        # Those that a later pass may mend, when more is known of where names are.
        self._postponed: set[tuple[str, str, str]] = set()
        # Files in which several fixes together failed: they are tried one by one.
        self._one_by_one: set[str] = set()
        self._mended = Mended(knows_changes=knowledge.old is not None)

    def run(self, findings: Iterable[Finding]) -> Mended:
        pending = list(findings)
        passes = 0
        states: list[dict[str, bytes]] = []
        while attempts := self._attempts(pending):
            if passes == MOST_PASSES:
                for attempt in attempts:
                    self._give_up(attempt.finding, f"{passes} passes over the files were made")
                break
            touched = _paths(attempts)
            before = self._found(self._knowledge, touched)
            kept, contents, after = self._checked(attempts, before)
            if not kept:
                continue
            passes += 1
            states.append(self._contents)
            state = {
                path: new
                for path, new in (self._contents | contents).items()
                if new != self._first_read(path)
            }
            if state in states:
                for attempt in kept:
                    self._give_up(attempt.finding, "other fixes undo it")
                continue
            self._contents = state
            self._knowledge = after
            done = {_identity(attempt.finding) for attempt in kept}
            self._mended.fixed += [(attempt.finding, attempt.fix) for attempt in kept]
            self._mended.together += [a.changed for a in kept if len(a.changed) > 1]
            fresh = self._found(after, contents.keys())
            wanted = {finding.rule for finding in pending}
            pending = [f for f in pending if f.path not in contents and _identity(f) not in done]
            pending += [f for f in fresh if f.rule in wanted]
            self._try_again()
        for path, new in self._contents.items():
            self._mended.files[path] = (self._first_read(path), new)
        return self._mended

    def one(self, fix: Fix) -> dict[str, tuple[bytes, bytes]]:
        contents, failed = self._edited([fix])
        before = self._found(self._knowledge, contents.keys())
        if not failed:
            after = self._found(self._with(contents), contents.keys())
            failed = self._failures([], before, after)
        for path, reason in failed.items():
            raise CannotFix(f"{path}: {reason}")
        return {path: (self._first_read(path), new) for path, new in contents.items()}

    def _attempts(self, pending: Sequence[Finding]) -> list[_Attempt]:
        """Fixes for as many findings as go together without overlapping."""
        chosen: list[_Attempt] = []
        taken: dict[str, list[Edit]] = defaultdict(list)
        files: dict[str, File] = {}
        self._mended.unsafe = []
        for finding in sorted(pending, key=lambda f: f.sort_key):
            if _identity(finding) in self._given_up:
                continue
            attempt = self._attempt(finding, files)
            if attempt is None:
                continue
            if attempt.paths & self._one_by_one & _paths(chosen):
                continue
            if any(
                overlaps(edit.span, other.span) and edit != other
                for edit in attempt.fix.edits
                for other in taken[edit.path]
            ):
                continue
            chosen.append(attempt)
            for edit in attempt.fix.edits:
                taken[edit.path].append(edit)
        return chosen

    def _attempt(self, finding: Finding, files: dict[str, File]) -> _Attempt | None:
        try:
            if finding.path not in files:
                facts = self._knowledge.registry.tree.files.get(finding.path)
                if not isinstance(facts, ModuleFacts):
                    raise CannotFix("the file cannot be read")
                source = self._knowledge.read(finding.path)
                files[finding.path] = File(finding.path, source, facts)
            fix = fix_for(files[finding.path], finding, self._knowledge)
        except CannotFix as reason:
            self._give_up(finding, str(reason))
            self._postponed.add(_identity(finding))
            return None
        if not fix.edits:
            self._give_up(finding, "there is nothing to change")
            return None
        if fix.safety == "unsafe" and not self._unsafe:
            self._mended.unsafe.append((finding, fix))
            return None
        return _Attempt(finding, fix)

    def _checked(
        self, attempts: list[_Attempt], before: Sequence[Finding]
    ) -> tuple[list[_Attempt], dict[str, bytes], Knowledge]:
        """Those of the attempts that hold, the bytes they give, and what is known afterwards."""
        while True:
            contents, failed = self._edited([attempt.fix for attempt in attempts])
            after = self._with(contents)
            if not failed:
                failed = self._failures(attempts, before, self._found(after, _paths(attempts)))
            if not failed:
                return attempts, contents, after
            tried = attempts
            for path in failed:
                here = [attempt for attempt in tried if path in attempt.paths]
                if len(here) == 1 or path in self._one_by_one:
                    for attempt in here:
                        self._give_up(attempt.finding, failed[path])
                else:
                    self._one_by_one.add(path)
                attempts = [attempt for attempt in attempts if attempt not in here]

    def _edited(self, fixes: Sequence[Fix]) -> tuple[dict[str, bytes], dict[str, str]]:
        """New bytes by path, and why some files cannot have any."""
        contents: dict[str, bytes] = {}
        failed: dict[str, str] = {}
        edits: dict[str, list[Edit]] = defaultdict(list)
        for fix in fixes:
            for edit in fix.edits:
                edits[edit.path].append(edit)
        for path, here in edits.items():
            try:
                contents[path] = edited(self._knowledge.read(path), here)
            except UnicodeEncodeError:
                failed[path] = "the file's encoding does not have the new text"
            except ValueError as error:
                failed[path] = str(error)
        return contents, failed

    def _failures(
        self, attempts: Sequence[_Attempt], before: Sequence[Finding], after: Sequence[Finding]
    ) -> dict[str, str]:
        failed: dict[str, str] = {}
        were, are = _counted(before), _counted(after)
        for key in are:
            if are[key] > were[key]:
                failed.setdefault(key[1], f"it would bring a new {key[0]} ({key[2]})")
        mended = _counted(attempt.finding for attempt in attempts)
        for key in mended:
            if are[key] > were[key] - mended[key]:
                failed.setdefault(key[1], "the finding would stay")
        return failed

    def _with(self, contents: Mapping[str, bytes]) -> Knowledge:
        """What is known with these bytes in place of the files'."""
        known = self._knowledge
        registry = known.registry
        new: dict[str, ModuleFacts | Unreadable] = {}
        for path, source in contents.items():
            new[path] = self._extract(source)
        tree = msgspec.structs.replace(registry.tree, files={**registry.tree.files, **new})
        everything = {**self._contents, **contents}
        first = self._first_read

        def read(path: str) -> bytes:
            return everything[path] if path in everything else first(path)

        return Knowledge(
            registry=build(tree, *registry.trees[1:]),
            read=read,
            line_length=known.line_length,
            old=known.old,
            read_old=known.read_old,
            changes=known.changes,
        )

    def _found(self, knowledge: Knowledge, paths: Collection[str]) -> Sequence[Finding]:
        return self._find(knowledge.registry, knowledge.read, paths)

    def _try_again(self) -> None:
        refused = self._mended.refused
        self._mended.refused = [e for e in refused if _identity(e[0]) not in self._postponed]
        self._given_up -= self._postponed
        self._postponed.clear()

    def _give_up(self, finding: Finding, reason: str) -> None:
        identity = _identity(finding)
        if identity not in self._given_up:
            self._given_up.add(identity)
            self._mended.refused.append((finding, reason))


def _paths(attempts: Iterable[_Attempt]) -> set[str]:
    return {path for attempt in attempts for path in attempt.paths}


def _identity(finding: Finding) -> tuple[str, str, str]:
    return (finding.rule, finding.path, finding.fingerprint)


def _counted(findings: Iterable[Finding]) -> Counter[tuple[str, str, str]]:
    """Findings by rule, path and symbol; notes are left out, and so is the symbol where a rule
    speaks of what two places have in common."""
    return Counter(
        (f.rule, f.path, "" if f.rule.startswith("CG3") else f.symbol)
        for f in findings
        if f.severity != "note"
    )
