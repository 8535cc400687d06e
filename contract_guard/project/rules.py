"""The rule catalogue: reads every `rules/<ID>/rule.toml`, from the wheel or the source tree."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from contract_guard.findings import Fixable, Severity


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What `rule.toml` says. `summary` is one line; `why` and `how_to_fix` are markdown."""

    id: str
    name: str
    severity: Severity
    summary: str
    why: str
    how_to_fix: str
    fixable: Fixable = "no"


def rules_directory() -> Path:
    """`contract_guard/_rules` in an installed package, `rules/` in a source tree."""
    package = Path(__file__).parent.parent
    installed = package / "_rules"
    return installed if installed.is_dir() else package.parent / "rules"


def may_ask_for_fragments(select: Sequence[str]) -> bool:
    """Whether a selection by ids and prefixes, () for all rules, may have one on mirrors: those
    alone look at the fragments of files."""
    return not select or any(p.startswith("CG3") or "CG3".startswith(p) for p in select)


@cache
def load_rules() -> dict[str, Rule]:
    """All rules by id, in order of id."""
    rules: dict[str, Rule] = {}
    for path in sorted(rules_directory().glob("*/rule.toml")):
        data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
        rules[path.parent.name] = msgspec.convert(data, Rule)
    return rules
