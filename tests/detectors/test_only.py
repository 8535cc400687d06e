"""Asking after a few files gives what asking after all gives of them."""

import pytest

from contract_guard.detectors.run import run
from contract_guard.project.config import read_config
from contract_guard.project.rules import load_rules, rules_directory
from contract_guard.project.snapshot import load
from contract_guard.registry.index import build


@pytest.mark.parametrize("rule", sorted(load_rules()))
def test_a_file_alone_has_the_findings_that_it_has_among_others(rule: str) -> None:
    root = rules_directory() / rule / "bad"
    snapshot = load(root, read_config(root))
    registry = build(snapshot.tree)
    everything = run(registry, snapshot.read)
    for path in snapshot.tree.files:
        alone = run(registry.only({path}), snapshot.read)
        assert [f for f in alone if f.path == path] == [f for f in everything if f.path == path]
