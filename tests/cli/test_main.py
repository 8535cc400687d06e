"""Exit codes and one-line errors of the command as a whole."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from contract_guard.cli import main as main_module
from contract_guard.errors import UserError
from contract_guard.project.rules import load_rules


def failing(error: BaseException) -> click.Command:
    @click.command("rules")
    def command() -> None:
        raise error

    return command


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    monkeypatch.setattr(
        main_module.LazyGroup, "get_command", lambda self, ctx, cmd_name: failing(error)
    )


def test_help_lists_every_command(run) -> None:
    done = run("--help")
    assert done.code == 0
    for name in ("check", "diff", "registry", "gate", "explain", "rules", "baseline"):
        assert f"\n  {name} " in done.out


def test_no_command_shows_the_help_and_fails(run) -> None:
    done = run()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: contract-guard")


def test_misspelt_command(run) -> None:
    assert run("chekc") == (
        2,
        "",
        "contract-guard: No such command 'chekc'. Did you mean 'check'?"
        " (see 'contract-guard --help')\n",
    )


def test_misspelt_option(run) -> None:
    assert run("explain", "--fromat", "json") == (
        2,
        "",
        "contract-guard: No such option '--fromat'. Did you mean '--format'?"
        " (see 'contract-guard explain --help')\n",
    )


def test_a_mistake_of_the_user_is_one_line(run, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, UserError("no\nsuch \x1b[31mthing"))
    assert run("rules") == (2, "", "contract-guard: no\\nsuch \\x1b[31mthing\n")


@pytest.mark.parametrize("error", [ValueError("odd \x1b"), RecursionError("deep"), MemoryError()])
def test_a_fault_of_its_own_is_never_one(run, monkeypatch: pytest.MonkeyPatch, error) -> None:
    fail_with(monkeypatch, error)
    done = run("rules")
    assert (done.code, done.out) == (2, "")
    assert f"internal fault: {type(error).__name__}: " in done.err
    assert "\x1b" not in done.err


def test_interrupted(run, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, KeyboardInterrupt())
    done = run("rules")
    assert (done.code, done.err.strip()) == (2, "contract-guard: interrupted")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["check", "-h"], 0),
        (["rules"], 0),
        (["rules", "--format", "json"], 0),
        (["explain", "CG101"], 0),
        (["registry", "show", "--no-cache"], 0),
        (["registry", "who", "f", "--no-cache"], 0),
        (["check", "--no-cache"], 1),
        (["check", "--no-cache", "--statistics", "--exit-zero"], 0),
    ],
)
def test_the_verdict_is_the_same_where_the_reader_of_the_pipe_went_away(
    arguments: list[str], code: int, tmp_path: Path
) -> None:
    (tmp_path / "pkg.py").write_text("def f(): ...\n")
    (tmp_path / "test_pkg.py").write_text("from pkg import g\n\n\ndef test_g(): ...\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "contract_guard", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == code


def test_rules_lists_all(run) -> None:
    done = run("rules")
    assert done.code == 0
    assert [line.split()[:3] for line in done.out.splitlines()] == [
        [rule.id, rule.severity, rule.name] for rule in load_rules().values()
    ]


def test_rules_as_json(run) -> None:
    first = json.loads(run("rules", "--format", "json").out)[0]
    assert list(first) == ["id", "name", "severity", "summary", "why", "how_to_fix", "fixable"]
    assert first["id"] == "CG101"


@pytest.mark.parametrize("name", ["CG101", "cg101", "missing-name"])
def test_explain(run, name: str) -> None:
    done = run("explain", name)
    rule = load_rules()["CG101"]
    assert done.code == 0
    assert done.out.startswith(f"CG101 missing-name (error)\n\n{rule.summary}\n\n")
    assert rule.how_to_fix.strip() in done.out
    assert "from pkg.constants import PAD, SENTINEL\n" in done.out


def test_an_option_that_is_far_from_all_is_not_guessed(run) -> None:
    done = run("baseline", "create", "--fromat")
    assert done.err == (
        "contract-guard: No such option '--fromat' (see 'contract-guard baseline create --help')\n"
    )


@pytest.mark.parametrize("rule", list(load_rules()))
def test_every_rule_can_be_explained_with_a_line_that_it_reports(run, rule: str) -> None:
    document = json.loads(run("explain", rule, "--format", "json").out)
    assert document["id"] == rule
    assert all(rule in example["expected"] for example in document["examples"])
    assert document["examples"] or rule == "CG902"  # its lines are those of a baseline


def test_explain_what_is_no_rule(run) -> None:
    assert run("explain", "missin-name") == (
        2,
        "",
        "contract-guard: there is no rule 'missin-name'; did you mean missing-name?\n",
    )
    assert run("explain", "CG9").err == (
        "contract-guard: there is no rule 'CG9'; there are CG901, CG902, CG903\n"
    )
    assert run("explain", "zzz").err == (
        "contract-guard: there is no rule 'zzz'; 'contract-guard rules' lists them all\n"
    )
