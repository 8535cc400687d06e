"""Runs the command in this process, as the console script does."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from contract_guard.cli.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        code = stopped.value.code
        assert isinstance(code, int)
        return Done(code, *capfd.readouterr())

    return run
