"""One file's bytes -> `ModuleFacts`. Pure: no disk, no module name, no knowledge of other files."""

from contract_guard.facts.extract import extract
from contract_guard.facts.fold import NotFoldable, fold
from contract_guard.facts.model import ModuleFacts, Unreadable

__all__ = ["ModuleFacts", "NotFoldable", "Unreadable", "extract", "fold"]
