"""The project that a pytest run belongs to, as the analyzer sees it."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from contract_guard.project.config import Config, find_root, read_config


def project_of(config: pytest.Config) -> tuple[Path, Config]:
    """Its root and its configuration. Raises UserError."""
    root = find_root(config.rootpath)
    return root, read_config(root)


class CollectedFiles:
    """The files of a run's tests, also of those that pytest-xdist's workers collected and of
    those that did not import."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._node_files: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._add(report.nodeid)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            self._add(item.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        for nodeid in ids:
            self._add(nodeid)

    def _add(self, nodeid: str) -> None:
        self._node_files.add(nodeid.partition("::")[0])

    def files_below(self, root: Path) -> list[Path]:
        """In order; those outside `root` are not the project's."""
        paths = {self.config.rootpath / name for name in self._node_files if name}
        return sorted(p for p in map(Path.resolve, paths) if p.is_file() and p.is_relative_to(root))
