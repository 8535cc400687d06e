"""Values that constants had once, by the history of their files."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from contract_guard.detectors.older_values import Former
from contract_guard.errors import UserError
from contract_guard.facts.model import Binding, ModuleFacts
from contract_guard.project.extraction import extract
from contract_guard.project.git_objects import Commit, Repository

_MOST_COMMITS = 50


class FormerValues:
    """`detectors.older_values.History` up to one commit. Where the history cannot be read, a
    partial clone say, nothing is known, and `warnings` says why."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self.warnings: list[str] = []
        self._repository = repository
        self._commit = commit

    def __call__(self, literals: Collection[str], paths: Collection[str]) -> Mapping[str, Former]:
        found: dict[str, Former] = {}
        try:
            commits = self._repository.touching(
                sorted(literals), self._commit, sorted(paths), _MOST_COMMITS
            )
            for commit in commits:
                for literal, former in self._before(commit, literals, paths):
                    found.setdefault(literal, former)
        except UserError as error:
            self.warnings.append(f"former values of constants were not looked for: {error}")
        return found

    def _before(
        self, commit: Commit, literals: Collection[str], paths: Collection[str]
    ) -> Iterator[tuple[str, Former]]:
        """The constants that a commit gave another value, by what they had."""
        for path in sorted(paths):
            was = self._values(f"{commit.oid}^", path)
            gone = literals & was.keys()
            if gone:
                now = self._values(commit.oid, path)
                for literal in gone - now.keys():
                    yield (
                        literal,
                        Former(path, was[literal], f"{commit.oid[:10]} ({commit.date[:10]})"),
                    )

    def _values(self, revision: str, path: str) -> dict[str, str]:
        """Qualified names of a file's constants by their values: numbers and texts of one word."""
        oid = self._repository.blob(revision, path)
        if oid is None:
            return {}
        ((_, source),) = self._repository.read([oid])
        facts = extract(source)
        if not isinstance(facts, ModuleFacts):
            return {}
        found: dict[str, str] = {}
        for binding in facts.bindings:
            _note(found, binding, binding.name)
        for class_ in facts.classes:
            for member in class_.members:
                _note(found, member, f"{facts.scopes[class_.scope].qualname}.{member.name}")
        return found


_LITERAL = re.compile(r"""-?\d[\d_]*|(["'])\w*\1""")


def _note(found: dict[str, str], binding: Binding, qualname: str) -> None:
    value = binding.value
    if binding.kind == "assign" and value is not None and _LITERAL.fullmatch(value):
        found[str(ast.literal_eval(value))] = qualname
