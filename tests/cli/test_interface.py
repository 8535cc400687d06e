"""What others build on: a change to it has to be made in `interface.json` as well.

`python tests/cli/test_interface.py` writes the file anew.
"""

import json
from pathlib import Path

import click
import msgspec
import pytest

from contract_guard import pytest_plugin
from contract_guard.cli import errors
from contract_guard.cli.main import cli
from contract_guard.findings import Finding, Related, TestsLost
from contract_guard.plugin.contracts import MARKER
from contract_guard.project.config import Config
from contract_guard.project.rules import Rule, load_rules
from contract_guard.report import FORMATS, Summary

SNAPSHOT = Path(__file__).with_name("interface.json")


def interface() -> dict[str, object]:
    """Commands with their options and arguments, exit codes, formats, keys, rules."""
    return {
        "commands": dict(options_of(cli, "contract-guard")),
        "exit_codes": {
            name: getattr(errors, name) for name in ("EXIT_CLEAN", "EXIT_FINDINGS", "EXIT_FAILED")
        },
        "formats": list(FORMATS),
        "json": {
            struct.__name__: [field.encode_name for field in msgspec.structs.fields(struct)]
            for struct in (Finding, TestsLost, Related, Summary, Config, Rule)
        },
        "rules": {rule.id: rule.name for rule in load_rules().values()},
        "pytest": pytest_interface(),
    }


def pytest_interface() -> dict[str, list[str]]:
    """What the pytest plugin adds: each name carries the prefix, as suites have their own."""

    class Recorder:
        def __init__(self) -> None:
            self.options: list[str] = []
            self.ini: list[str] = []

        def getgroup(self, *_: str) -> "Recorder":
            return self

        def addoption(self, name: str, **_: object) -> None:
            self.options.append(name)

        def addini(self, name: str, *_: object, **__: object) -> None:
            self.ini.append(name)

    recorder = Recorder()
    pytest_plugin.pytest_addoption(recorder)  # type: ignore[arg-type]
    return {
        "options": recorder.options,
        "ini": recorder.ini,
        "markers": [MARKER],
        "fixtures": [name for name in vars(pytest_plugin) if name.startswith("contract_guard_")],
    }


def options_of(command: click.Command, path: str):
    if not isinstance(command, click.Group):
        yield path, {"/".join(parameter.opts): kind(parameter) for parameter in command.params}
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from options_of(below, f"{path} {name}")


def kind(parameter: click.Parameter) -> str:
    if isinstance(parameter.type, click.Choice):
        return "|".join(map(str, parameter.type.choices))
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return "flag"
    return parameter.type.name


def test_the_interface_is_the_one_recorded() -> None:
    pytest.importorskip("torch")
    assert interface() == json.loads(SNAPSHOT.read_text("utf-8"))


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(interface(), indent=1) + "\n", "utf-8")
