"""The engine: suppressions, broken rules, and the library as a program uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from butlerctl.errors import ExitCode
from butlerctl.workflows import lint
from butlerctl.workflows.engine import exit_code, lint_documents, lint_paths
from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.rules.base import Rule
from butlerctl.workflows.rules.registry import RULES
from butlerctl.workflows.settings import LintSettings

BASE = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))


def with_notes(notes, node=0, **changes):
    document = json.loads(json.dumps({**BASE, **changes}))
    document["nodes"][node]["notes"] = notes
    return {"a.json": document}


def codes(report):
    return [finding.code for finding in report.findings]


def test_findings_are_typed_and_lead_to_the_checks_of_the_judge(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({**BASE, "active": False}))
    report = lint([tmp_path])
    assert isinstance(report, Report)
    finding = report.findings[0]
    assert isinstance(finding, Finding)
    assert (finding.code, finding.severity, finding.check) == ("BW203", Severity.WARNING, "lint.inactive")


def test_parsed_documents_are_linted_without_files():
    report = lint_documents({"calendar_add_husband.json": BASE})
    assert codes(report) == ["BW304"]


def test_a_suppression_holds_for_its_node_and_its_code_alone():
    assert codes(lint_documents(with_notes("butlerctl: ignore BW203 -- by hand", active=False))) == []
    elsewhere = lint_documents(with_notes("butlerctl: ignore BW203 -- by hand", node=1, active=False))
    assert codes(elsewhere) == ["BW203", "BW007"] or sorted(codes(elsewhere)) == ["BW007", "BW203"]
    several = with_notes("Ask Ada.\nbutlerctl: ignore BW206, BW203 -- old import", active=False)
    del several["a.json"]["nodes"][0]["webhookId"]
    assert codes(lint_documents(several)) == []


def test_a_suppression_of_a_set_rule_holds_too():
    copy = {**BASE, "name": "b", "id": "b"}
    documents = {**with_notes("butlerctl: ignore BW210 -- moved tomorrow"), "b.json": copy}
    assert [(item.code, item.file) for item in lint_documents(documents).findings] == [("BW210", "b.json")]


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ("butlerctl: ignore BW203 -- on since summer", "suppresses nothing"),
        ("butlerctl: ignore BW204 -- x", "suppresses nothing"),
    ],
)
def test_an_idle_suppression_is_a_warning(notes, message):
    report = lint_documents(with_notes(notes))
    assert codes(report) == ["BW007"]
    assert message in report.findings[0].message


def test_a_suppression_without_a_reason_works_and_is_a_warning():
    report = lint_documents(with_notes("butlerctl: ignore BW203", active=False))
    assert (codes(report), report.suppressed) == (["BW007"], 1)


def test_a_suppression_of_a_rule_that_did_not_run_is_not_called_idle():
    report = lint_documents(with_notes("butlerctl: ignore BW203 -- x"), LintSettings(ignore=("BW203",)))
    assert codes(report) == []


@pytest.mark.parametrize("kind", ["check_file", "check", "check_set"])
def test_a_crashing_rule_is_reported_as_such_and_the_others_go_on(tmp_path, kind):
    def broken(*_):
        raise ZeroDivisionError("with a secret in its text")

    rule = Rule("BW999", "broken on purpose", Severity.ERROR, **{kind: broken})
    (tmp_path / "a.json").write_text(json.dumps({**BASE, "active": False}))
    report = lint_paths([tmp_path], rules=(*RULES, rule))
    crash = next(finding for finding in report.findings if finding.code == "BW000")
    assert "rule BW999 crashed: ZeroDivisionError at test_engine.py:" in crash.message
    assert "secret" not in crash.message
    assert "BW203" in codes(report)
    assert exit_code(report, Severity.ERROR, findings_count=False) is ExitCode.BUG


@pytest.mark.parametrize(
    ("report", "fail_on", "code"),
    [
        (Report((), 1, 0), Severity.ERROR, ExitCode.PROVEN),
        (Report((), 0, 4), Severity.ERROR, ExitCode.NOT_PROVEN),
        (Report((Finding("BW203", Severity.WARNING, "", ""),), 1, 0), Severity.ERROR, ExitCode.PROVEN),
        (Report((Finding("BW203", Severity.WARNING, "", ""),), 1, 0), Severity.WARNING, ExitCode.BROKEN),
        (Report((Finding("BW001", Severity.ERROR, "", ""),), 0, 1), Severity.ERROR, ExitCode.BROKEN),
    ],
)
def test_the_exit_code_follows_from_the_report(report, fail_on, code):
    assert exit_code(report, fail_on) is code


def test_thousands_of_hits_in_one_file_end_in_a_hundred_findings():
    nodes = [{"name": f"N{i}", "type": "t", "parameters": {"task": f"<LIST_{i}_ID>"}} for i in range(2000)]
    report = lint_documents({"a.json": {"nodes": nodes, "connections": {}}})
    assert codes(report) == ["BW102"] * 100


def test_selected_rules_alone_run():
    everything = {"a.json": {**BASE, "active": False, "pinData": {"x": [{"a": 1}]}}}
    assert codes(lint_documents(everything, LintSettings(select=("BW2",)))) == ["BW203"]
    assert codes(lint_documents(everything, LintSettings(ignore=("BW2", "BW5")))) == []
    assert "BW504" in codes(lint_documents(everything, LintSettings(select=("BW504",))))
    assert "BW504" not in codes(lint_documents(everything, LintSettings(select=("BW5",))))
