"""The ledger, what it proves, and how it is shown."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.gates import evidence, report_html, report_text
from contract_guard.gates.evidence import Requirement, Target
from contract_guard.gates.model import Bucket, GateRun

RUN = GateRun(
    gate="pkg.mod:Gate",
    mirror="tests/test_x.py::test_y",
    verdict="agree",
    device="NVIDIA H200 (sm90)",
    cases=80,
    rows=1_000_000,
    seconds=1.23456,
    rows_per_second=810_000.0,
    excused=0.001,
    properties={"gate = oracle": "agree: 1000000 rows", "strides": "drift: 3 of 10 rows"},
)
TARGET = Target(RUN.gate, RUN.mirror, "aaaa", "bbbb")


def entry(run=RUN, target=TARGET, **changes):
    made = evidence.entry_of(run, target, {"torch": "2.11"}, 7, "2026-01-02T03:04:05Z")
    return dataclasses.replace(made, **changes)


def state(entries, requirement=None, target=TARGET):
    (status,) = evidence.verify([target], entries, requirement)
    return status.state, evidence.exit_code([status])


def test_an_entry_holds_the_hardware():
    made = entry()
    assert (made.device_type, made.capability) == ("cuda", "sm90")
    assert (entry(dataclasses.replace(RUN, device="cpu")).device_type) == "cpu"
    failed = dataclasses.replace(RUN, device="cuda:0", verdict="unverified", reason="no CUDA")
    assert entry(failed).device_type == "cuda"


names = st.text(min_size=1, max_size=20)
buckets = st.builds(
    Bucket, names, st.integers(0, 10), st.dictionaries(names, st.integers()), names, names
)


@given(st.lists(st.tuples(names, names, buckets), max_size=4))
def test_a_ledger_reads_back(drawn):
    entries = [
        entry(dataclasses.replace(RUN, gate=gate, mirror=mirror, buckets=(bucket,)))
        for gate, mirror, bucket in drawn
    ]
    text = "".join(evidence.to_line(made) + "\n" for made in entries)
    assert evidence.from_text(text) == (entries, [])
    assert text.count("\n") == len(entries)


def test_lines_that_are_no_entries_are_named():
    good = evidence.to_line(entry())
    newer = good.replace('"version": 1', '"version": 2')
    text = "\n".join([good, "", "not json", '{"gate": 1}', "[]", newer, good])
    entries, unread = evidence.from_text(text)
    assert len(entries) == 2
    assert unread == [3, 4, 5, 6]


def test_a_digest_knows_content_not_order_or_line_ends():
    first = evidence.digest({"a.py": b"x\ny\n", "b.py": b"z"})
    assert first == evidence.digest({"b.py": b"z", "a.py": b"x\r\ny\r\n"})
    assert first != evidence.digest({"a.py": b"x\ny\n", "b.py": b"w"})
    assert first != evidence.digest({"a.py": b"x\ny\n", "c.py": b"z"})
    assert len(first) == 16


def test_fresh_stale_and_missing():
    assert state([entry()]) == ("fresh", 0)
    assert state([entry(digest="old")]) == ("stale", 1)
    assert state([entry(mirror_digest="old")]) == ("stale", 1)
    assert state([]) == ("not-run", 1)
    assert state([entry(digest="old"), entry()]) == ("fresh", 0)
    assert state([entry(), entry(digest="old")]) == ("fresh", 0)


def test_drift_is_no_clean_evidence():
    drifted = entry(verdict="drift", buckets=({"label": "mask rule", "count": 1},))
    assert state([drifted]) == ("drift", 1)
    assert state([drifted, entry()]) == ("fresh", 0)


@pytest.mark.parametrize("verdict", ["unverified", "error"])
def test_a_run_that_was_not_made_is_no_evidence(verdict):
    assert state([entry(verdict=verdict)]) == ("not-run", 1)
    assert state([entry(), entry(verdict=verdict)]) == ("fresh", 0)


def test_evidence_must_come_from_the_hardware_asked_for():
    hopper, any_gpu = Requirement.parse("cuda:sm90"), Requirement.parse("cuda")
    blackwell = entry(capability="sm100")
    assert state([entry()], hopper) == ("fresh", 0)
    assert state([blackwell], hopper) == ("no-device", 2)
    assert state([blackwell], any_gpu) == ("fresh", 0)
    assert state([entry(device_type="cpu", capability="")], any_gpu) == ("no-device", 2)
    assert state([], any_gpu) == ("no-device", 2)
    assert state([entry(digest="old")], hopper) == ("stale", 1)


@pytest.mark.parametrize("text", ["gpu", "cuda:", "cuda:90", "cpu:sm90", "sm90", ""])
def test_what_is_no_hardware_is_refused(text):
    with pytest.raises(ValueError, match="is no hardware"):
        Requirement.parse(text)


def test_the_worst_state_decides_the_exit_code():
    missing = Target("other", None, "", "")
    statuses = evidence.verify([TARGET, missing], [entry()], Requirement.parse("cuda"))
    assert [status.state for status in statuses] == ["fresh", "no-device"]
    assert evidence.exit_code(statuses) == 2


HOSTILE = '<script>alert("x")</script>'
DRIFTED = dataclasses.replace(
    RUN,
    gate=HOSTILE,
    verdict="drift",
    reason=HOSTILE,
    buckets=(
        Bucket(
            f"cause {HOSTILE}",
            3,
            {
                "token_id": HOSTILE,
                "where": {
                    "axis": HOSTILE,
                    "bins": [1, 2, 3],
                    "seen": [4, 0, 2],
                    "drifting": [1, 0, 2],
                },
            },
            f"replay {HOSTILE}",
            "import torch",
        ),
    ),
    properties={HOSTILE: f"drift: {HOSTILE}", "n": "n/a: no", "g": "unverified: no CUDA"},
)


def test_the_page_escapes_everything_and_loads_nothing():
    page = report_html.render([entry(DRIFTED), entry()])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("<svg") == 1
    assert "1 of 4 tokens drift" in page
    assert '<td class="drift"' in page
    assert '<td class="agree"' in page
    assert '<td class="n-a"' in page


def test_the_page_shows_the_latest_run_of_each():
    page = report_html.render([entry(verdict="drift"), entry()])
    assert page.count("<section") == 1
    assert "1 run: 1 agree" in page


def test_json_is_as_the_design_says():
    (run,) = json.loads(report_text.to_json([DRIFTED]))["runs"]
    assert set(run) >= {
        "gate", "mirror", "verdict", "device", "cases", "rows", "seconds", "rows_per_second",
        "excused", "buckets", "reason",
    }  # fmt: skip
    (bucket,) = run["buckets"]
    assert set(bucket) >= {"label", "count", "minimal", "replay"}


def test_text_is_text_and_one_line_a_run():
    hostile = dataclasses.replace(DRIFTED, reason="a\x1b[31m\nb", gate="[red]x[/red]")
    concise = report_text.to_concise([hostile])
    assert concise.count("\n") == 2
    assert "\x1b" not in concise
    rich = report_text.to_text([hostile], 100, color=False, details=True)
    assert "[red]x[/red]" in rich
    assert "\x1b" not in rich


def test_an_unverified_run_is_loud():
    text = report_text.to_text(
        [dataclasses.replace(RUN, verdict="unverified", reason="no CUDA here")], 100, False, False
    )
    assert "NOT VERIFIED: pkg.mod:Gate: no CUDA here" in text
