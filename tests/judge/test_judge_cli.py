from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET

import pytest
from bundle_cases import load
from turns import Turn, bundle, of, say

from butlerctl.cli.app import run

PASSES, FAILS, UNKNOWN = "claim-d01-clean-add", "field-d36", "own-d28-not-read-back"


@pytest.fixture
def files(tmp_path):
    for name in (PASSES, FAILS, UNKNOWN):
        (tmp_path / f"{name}.json").write_text(json.dumps(load(name).bundle), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "code"),
    [((PASSES,), 0), ((FAILS,), 1), ((UNKNOWN,), 3), ((PASSES, UNKNOWN), 3), ((UNKNOWN, FAILS, PASSES), 1)],
)
def test_the_exit_code_is_that_of_the_worst_bundle(files, capsys, names, code):
    assert run(["diagnose", *(str(files / f"{name}.json") for name in names), "--format", "json"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(names)
    assert all(
        set(json.loads(line)) == {"verdict", "first_broken", "links", "turn", "claim", "notes"}
        for line in lines
    )


def test_text_shows_nine_links_and_what_to_do(files, capsys):
    run(["diagnose", str(files / f"{FAILS}.json")])
    out = capsys.readouterr().out
    for line in (
        "✗ header     broken",
        "· report     not reached",
        "turn   false_success",
    ):
        assert line in out
    told = re.findall(r"^  (seen|expected|do)  +\S", out, re.MULTILINE)
    assert told == ["seen", "expected", "do"], "in the words and the order of verify"
    assert "\x1b" not in out
    assert "test-secret-not-real" not in out


def test_standard_input_is_a_bundle(capsys, monkeypatch):
    text = json.dumps(load(PASSES).bundle).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run(["diagnose", "-", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "PASS"


def test_junit_counts_a_break_once_and_unknown_as_an_error(files, capsys):
    run(["diagnose", str(files / f"{FAILS}.json"), str(files / f"{UNKNOWN}.json"), "--format", "junit"])
    suites = ET.fromstring(capsys.readouterr().out)  # noqa: S314 - our own output
    assert [(suite.get("failures"), suite.get("errors")) for suite in suites] == [("1", "0"), ("0", "1")]


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"bundle": 1}'])
def test_a_bad_bundle_is_one_line_and_78(tmp_path, capsys, text):
    file = tmp_path / "bad.json"
    file.write_text(text, encoding="utf-8")
    assert run(["diagnose", str(file)]) == 78
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[0].startswith("butlerctl: ")
    assert "Traceback" not in captured.err


def test_nothing_to_judge_is_a_usage_error(capsys):
    assert run(["diagnose"]) == 2
    capsys.readouterr()


def test_evidence_cannot_steer_the_terminal(tmp_path, capsys):
    document = bundle(Turn())
    of(document, "exchange")["response"] |= {
        "status": 403,
        "body": "\x1b[2J\x07 Authorization data is wrong!",
    }
    file = tmp_path / "case.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert run(["diagnose", str(file)]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_a_transcript_is_judged_with_and_without_what_was_asked(tmp_path, capsys):
    document = bundle(Turn("tasks_add"))
    session, intent = tmp_path / "session.json", tmp_path / "intent.json"
    session.write_text(json.dumps({"messages": of(document, "transcript")["messages"]}), encoding="utf-8")
    intent.write_text(json.dumps(document["intent"]), encoding="utf-8")
    assert run(["transcript", str(session), "--intent", str(intent), "--format", "json"]) == 3
    judged = json.loads(capsys.readouterr().out)
    assert (judged["turn"], judged["links"]["call"]) == ("unverified", "proven")
    assert run(["transcript", str(session)]) == 3
    assert "UNKNOWN" in capsys.readouterr().out
    say(document, "Done")
    messages = of(document, "transcript")["messages"]
    session.write_text(json.dumps([messages[0], messages[-1]]), encoding="utf-8")
    assert run(["transcript", str(session), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["first_broken"]["check"] == "report.claim_backed"
