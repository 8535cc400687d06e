"""What is kept of a source file: its facts, with what the rules on mirrors ask of it."""

import ast
from collections.abc import Iterable

import msgspec

from contract_guard.facts.extract import extract as extract_facts
from contract_guard.facts.model import FileFragments, ModuleFacts, Unreadable
from contract_guard.mirrors.echo import echoes
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.inputs import inputs


def extract(source: bytes) -> ModuleFacts | Unreadable:
    """`facts.extract` with fragments. Workers find it by its name."""
    return extract_facts(source, _fragments)


def asks_for_fragments(rules: Iterable[str]) -> bool:
    """Whether any of the rules looks at fragments; to take them is a fifth of the work."""
    return any(rule.startswith("CG3") for rule in rules)


def _fragments(tree: ast.Module) -> FileFragments:
    fragments = file_fragments(tree)
    if not any(f.qualname.rpartition(".")[2].startswith("test") for f in fragments.functions):
        return fragments
    return msgspec.structs.replace(
        fragments, echoes=tuple(echoes(tree)), inputs=tuple(inputs(tree))
    )
