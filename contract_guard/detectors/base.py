"""What every detector takes and how it makes a finding."""

import copy
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from contract_guard.detectors.statement import cut, decode, normalise
from contract_guard.detectors.versions import Versions
from contract_guard.facts.model import ModuleFacts, Span, Test, Unreadable
from contract_guard.findings import (
    Finding,
    Impact,
    Related,
    Severity,
    TestsLost,
    fingerprint,
)
from contract_guard.mirrors.copies import CopiesOf
from contract_guard.registry.impact import ImportGraph, import_graph
from contract_guard.registry.index import Registry

_DEFINING = frozenset({"function", "class", "assign", "type-alias"})


class Site(NamedTuple):
    """A consumer: the range to mark, its statement, and the scope and guard where it stands."""

    path: str
    facts: ModuleFacts
    span: Span
    statement: Span
    scope: int
    guard: int

    @property
    def test(self) -> Test | None:
        """The test function around the site."""
        tests = {test.scope: test for test in self.facts.pytest.tests}
        scope = self.scope
        while scope > 0 and tests:
            if scope in tests:
                return tests[scope]
            scope = self.facts.scopes[scope].parent
        return None


class Context:
    """What a detector may ask, and what several of them need, computed once.

    `read` gives the bytes of a file of the project by its relative path; it is called only for
    files that have something to say. `unreadable` are files and directories without facts.
    `version_predicates` and `patch_wrappers` are dotted names of the project's own functions that
    test a version, or that wrap `mock.patch`. `copies_of` searches for mirrors, by default in
    this process.
    """

    def __init__(
        self,
        registry: Registry,
        read: Callable[[str], bytes],
        unreadable: Mapping[str, Unreadable],
        version_predicates: Collection[str] = (),
        patch_wrappers: Collection[str] = (),
        copies_of: CopiesOf | None = None,
    ) -> None:
        self.registry = registry
        self.read = read
        self.unreadable = unreadable
        versions = [v for tree in registry.trees[1:] for v in tree.distributions or (tree.origin,)]
        self.versions = Versions(versions, version_predicates)
        self.patch_wrappers = frozenset(patch_wrappers)
        self.copies_of = copies_of
        self.hints: dict[tuple[str, ...], str] = {}  # what `detectors.hints` has said
        self.notices: list[str] = []  # sentences for the user on what was not looked at
        self._texts: dict[str, str] = {}

    def only(self, paths: Collection[str]) -> "Context":
        """The same, for detectors that are to look at a few files (`Registry.only`)."""
        part = copy.copy(self)
        part.registry = self.registry.only(paths)
        return part

    @cached_property
    def imports(self) -> ImportGraph:
        return import_graph(self.registry)

    def definitions(self, name: str) -> list[str]:
        """Symbols of that name which modules outside of tests define themselves."""
        layouts = self.registry.modules.layouts
        return [
            f"{module.name}:{name}"
            for module in self.registry.modules.mentioning(name)
            if any(b.kind in _DEFINING for b in module.bindings.get(name, ()))
            and not layouts[module.tree].is_test(module.path)
        ]

    def text(self, path: str) -> str:
        found = self._texts.get(path)
        if found is None:
            found = self._texts[path] = decode(self.read(path))
        return found

    def finding(
        self,
        rule: str,
        severity: Severity,
        site: Site,
        symbol: str,
        message: str,
        help_: str,
        *,
        impact: Impact | None = None,
        lost: TestsLost | None = None,
        related: tuple[Related, ...] = (),
        identity: str | None = None,
    ) -> Finding:
        """A finding at `site`; `identity` takes the place of the statement in the fingerprint."""
        test = site.test
        if identity is None:
            identity = normalise(cut(self.text(site.path), site.statement))
        qualname = site.facts.scopes[site.scope].qualname
        return Finding(
            rule=rule,
            severity=severity,
            impact=impact,
            path=site.path,
            line=site.span.line,
            column=site.span.column,
            end_line=site.span.end_line,
            end_column=site.span.end_column,
            symbol=symbol,
            test=f"{site.path}::{test.qualname.replace('.', '::')}" if test else None,
            tests_lost=lost,
            message=message,
            help=help_,
            fingerprint=fingerprint(rule, site.path, qualname, symbol, identity),
            related=related,
        )


Detector = Callable[[Context], Iterable[Finding]]
