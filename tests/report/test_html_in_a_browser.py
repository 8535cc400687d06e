"""The page of `--format html` opened from a file in a real browser."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from contract_guard.cli.main import main

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="unverified: no Chromium here")

HOSTILE = "test_<img src=x onerror=document.title='run'>.py"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "gate").mkdir()
    (root / "gate" / "__init__.py").write_text("BASE = 129252\n")
    for name in ("test_a.py", "test_b.py", HOSTILE):
        text = "from gate import BASE, GONE\n\n\ndef test_it():\n    assert BASE\n"
        (root / name).write_text(text)
    out = root / "report.html"
    arguments = ["check", "--root", str(root), "--no-cache", "--fail-on", "note", "--exit-zero"]
    with pytest.raises(SystemExit) as done:
        main([*arguments, "--format", "html", "--output-file", str(out)])
    assert done.value.code == 0
    return out


def opened(page: Path, fragment: str = "", width: int = 1280) -> tuple[str, list[str]]:
    """The document after its script ran, and what was written to the console."""
    assert BROWSER is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    window = f"--window-size={width},900"
    done = subprocess.run(
        [BROWSER, *options, profile, window, "--dump-dom", f"{page.as_uri()}{fragment}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def shown(document: str) -> str:
    match = re.search(r"<output>(.*?)</output>", document)
    assert match is not None
    return match[1]


def test_no_console_error_and_nothing_of_the_project_runs(page: Path) -> None:
    document, console = opened(page)
    assert console == []
    assert shown(document) == "6 of 6 shown"
    assert "<title>contract-guard</title>" in document
    assert "<img" not in document


@pytest.mark.parametrize(
    ("fragment", "count"),
    [
        ("#rule=CG101", 3),
        ("#impact=collection-error&path=TEST_A", 1),
        ("#path=nowhere", 0),
        ("#rule=%3Cscript%3E", 6),
    ],
)
def test_filters(page: Path, fragment: str, count: int) -> None:
    document, console = opened(page, fragment)
    assert console == []
    assert shown(document) == f"{count} of 6 shown"
    visible = re.findall(r"<article (?![^>]*hidden)", document)
    assert len(visible) == count


PROBE = """<script>
const box = document.documentElement;
document.title = JSON.stringify([box.scrollWidth, box.clientWidth]);
</script></body>"""


@pytest.mark.parametrize("width", [1280, 500])
def test_nothing_is_wider_than_the_window(page: Path, width: int) -> None:
    """A headless window is at least 500 wide; the narrowest layout begins above that."""
    text = page.read_text("utf-8")
    probe = page.with_name(f"probe{width}.html")
    without_policy = re.sub(r"<meta http-equiv=.*?>", "", text)
    probe.write_text(without_policy.replace("</body>", PROBE), "utf-8")
    document, _ = opened(probe, width=width)
    title = re.search(r"<title>(.*?)</title>", document)
    assert title is not None
    content, window = json.loads(title[1])
    assert content <= window
