"""What is kept of a source file: its facts, with the fragments that nominate mirrors."""

from contract_guard.facts.extract import extract as extract_facts
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.mirrors.fragments import file_fragments


def extract(source: bytes) -> ModuleFacts | Unreadable:
    """`facts.extract` with fragments. Workers find it by its name."""
    return extract_facts(source, file_fragments)
