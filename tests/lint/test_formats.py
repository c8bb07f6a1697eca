"""The formats that programs read: their required fields, and the same positions in each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from butlerctl.workflows import lint
from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.formats import FORMATS, Options, render, summary_line

BASE = (Path(__file__).parent / "base.json").read_text(encoding="utf-8")


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.json").write_text(
        BASE.replace('"active": true', '"active": false').replace("KzLKQWQ3M9Zo9IEd", "<CAL_CRED_ID>")
    )
    other = BASE.replace("calendar/add/wife", "x/y").replace("wf1016083b3c8d51", "other")
    (tmp_path / "clean.json").write_text(other.replace("calendar add wife", "other"))
    return lint(["a b.json", "clean.json"])


def rendered(report, name):
    return render(report, name, Options())


def test_full_shows_the_line_the_caret_and_the_next_step(report):
    text = rendered(report, "full")
    assert "error[BW101] credential id is a placeholder: <CAL_CRED_ID>" in text
    assert '--> a b.json:52:18   (node "Google Calendar")' in text
    line, carets = re.search(r"(52 \| .*)\n +(\| +\^+)", text).groups()
    assert line[5 + carets.index("^") - 2 :].startswith("<CAL_CRED_ID>")
    assert "= help: create " in text


def test_colour_is_only_there_when_asked_for(report):
    assert "\x1b[31;1m" in render(report, "full", Options(colour=True))
    assert "\x1b" not in rendered(report, "full")


def test_concise_is_one_line_a_finding(report):
    assert len(rendered(report, "concise").splitlines()) == len(report.findings)


def test_sarif_has_what_code_scanning_requires(report):
    document = json.loads(rendered(report, "sarif"))
    run = document["runs"][0]
    assert (document["version"], run["columnKind"]) == ("2.1.0", "unicodeCodePoints")
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert result["level"] in ("error", "warning", "note")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] in ("a%20b.json", "clean.json")
        assert place["region"]["startLine"] >= 1
        assert result["partialFingerprints"]["butlerctl/v1"]
    assert "Fix:" in rules["BW101"]["help"]["text"]


def test_github_annotations_escape_what_would_end_them():
    finding = Finding("BW101", Severity.ERROR, "100 % a\nb", "a,b:c.json", 3, 4, 3, 9)
    line = rendered(Report((finding,), 1, 0), "github")
    assert line == (
        "::error file=a%2Cb%3Ac.json,line=3,col=4,endLine=3,endColumn=9,title=BW101::100 %25 a\ufffdb\n"
    )


def test_gitlab_has_a_fingerprint_that_lines_do_not_change(report, tmp_path):
    before = json.loads(rendered(report, "gitlab"))
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(before[0])
    path = tmp_path / "a b.json"
    path.write_text("\n\n" + path.read_text())
    after = json.loads(rendered(lint(["a b.json", "clean.json"]), "gitlab"))
    assert [item["fingerprint"] for item in before] == [item["fingerprint"] for item in after]
    assert before[0]["location"]["positions"] != after[0]["location"]["positions"]


def test_junit_fails_at_and_above_the_asked_severity_only(report):
    for fail_on, failures in ((Severity.ERROR, 1), (Severity.WARNING, 2)):
        suite = ET.fromstring(render(report, "junit", Options(fail_on=fail_on)).encode())  # noqa: S314 - our own text
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == failures
        assert int(suite.get("tests")) == len(suite.findall("testcase"))


def test_junit_survives_characters_that_xml_forbids():
    finding = Finding("BW101", Severity.ERROR, 'a\x00"<&>', "a\x1b.json")
    ET.fromstring(rendered(Report((finding,), 1, 0), "junit").encode())  # noqa: S314 - our own text


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_say_that_all_is_well(name):
    assert isinstance(rendered(Report((), 3, 0, files=("a.json",)), name), str)


def test_the_last_line_counts():
    finding = Finding("BW203", Severity.WARNING, "m", "f")
    assert summary_line(Report((finding,), 1, 2, suppressed=1)) == (
        "1 workflow checked, 2 skipped: 1 warning (1 suppressed)"
    )
    assert summary_line(Report((), 12, 0)) == "12 workflows checked, 0 skipped: no findings"
