"""Help texts and documents say the same."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import get_args

import click
import msgspec
import pytest

from contract_guard.cli.main import cli
from contract_guard.findings import Finding
from contract_guard.project.config import Config
from contract_guard.project.rules import load_rules
from contract_guard.registry.model import Reason
from contract_guard.report import Summary

ROOT = Path(__file__).parents[2]
STALE = "is not what the program says: run `make docs`"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(name: str, heading: str) -> str:
    return re.split(r"^## ", read(name).partition(f"## {heading}\n")[2], maxsplit=1, flags=re.M)[0]


def keys_of_table(text: str) -> list[str]:
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return [key for cell in cells for key in re.findall(r"`([\w-]+)`", cell)]


def test_readme_shows_what_is_printed(build: ModuleType) -> None:
    readme = read("README.md")
    assert build.with_blocks(readme) == readme, f"README.md {STALE}"


def test_a_page_for_every_rule(build: ModuleType) -> None:
    pages = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs/rules").glob("*.md")}
    assert pages == {id: build.rule_page(rule) for id, rule in load_rules().items()}, (
        f"docs/rules {STALE}"
    )


def test_commands_page(build: ModuleType) -> None:
    pytest.importorskip("torch")
    assert read("docs/commands.md") == build.command_page(), f"docs/commands.md {STALE}"


def test_options_that_the_documents_name_exist(build: ModuleType) -> None:
    pytest.importorskip("torch")
    known = {"--help", "--version"}
    with click.Context(cli, info_name="contract-guard") as context:
        for below in build.contexts(context):
            known |= {name for p in below.command.params for name in p.opts}
    interface = json.loads((ROOT / "tests/cli/interface.json").read_text("utf-8"))
    known |= {*interface["pytest"]["options"], "--all-files", "--from-ref"}
    documents = [
        ROOT / "README.md",
        ROOT / "docs/baseline.md",
        ROOT / "docs/configuration.md",
        ROOT / "docs/json.md",
    ]
    for document in documents:
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", document.read_text("utf-8")))
        assert named <= known, document.name


def test_configuration_lists_every_key() -> None:
    first = read("docs/configuration.md").partition("\n## ")[0]
    keys = [field.encode_name for field in msgspec.structs.fields(Config)]
    assert keys_of_table(first) == keys


def test_json_lists_every_key() -> None:
    finding = [field.encode_name for field in msgspec.structs.fields(Finding)]
    assert keys_of_table(section("docs/json.md", "A finding")) == finding
    summary = [field.encode_name for field in msgspec.structs.fields(Summary)]
    assert keys_of_table(section("docs/json.md", "The summary")) == summary


def test_links_between_documents_lead_somewhere() -> None:
    for document in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("examples/*/*.md"),
    ]:
        for target in re.findall(r"\]\(([^)#]+)", document.read_text("utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_pytest_page_names_all_that_the_plugin_adds() -> None:
    """The names are those of the recorded interface, which is the plugin's."""
    added = json.loads((ROOT / "tests/cli/interface.json").read_text("utf-8"))["pytest"]
    text = read("docs/pytest.md")
    missing = [name for names in added.values() for name in names if f"`{name}" not in text]
    assert missing == []
    assert re.findall(r"^\| `(--[\w-]+)", text, flags=re.M) == added["options"]


def test_every_reason_for_which_nothing_is_known_of_a_name_is_explained() -> None:
    table = section("docs/json.md", "Why nothing is known of a name")
    reasons = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    missing = ("no-such-module", "no-such-name", "no-such-member", "type-checking-only", "deleted")
    assert [*reasons, *missing] == list(get_args(Reason))
