"""The conformance run's own parts: the catalogue, what is made of an observation, the page, the wire as evidence."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from butlerctl.cli.app import run
from butlerctl.errors import ExitCode
from butlerctl.evidence import read_bundles
from butlerctl.gateway.operator import Run
from butlerctl.gateway.tap_record import Conversation
from butlerctl.inventory.loader import load_inventory
from butlerctl.judge import judge
from butlerctl.lab.conformance import recorded
from butlerctl.lab.conformance.case import Right
from butlerctl.lab.conformance.catalogue import CASES
from butlerctl.lab.conformance.evidence import bundle_of
from butlerctl.lab.conformance.outcome import Outcome, Verdict, observe
from butlerctl.lab.conformance.page import page, summary
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.recorded import RECORDS, STAND_IN, changes, dump, load
from butlerctl.lab.conformance.run import run_on_stand_in

ROOT = Path(__file__).parents[2]
OK = Run("x", "ok", "Done.", {}, ())
CASE = {case.id: case for case in CASES}


def posted(**changes):
    arguments = {**EVENT.arguments, **changes}
    profile = arguments.pop("profile")
    url = f"http://127.0.0.1:1/webhook/L4CK3Y/calendar/add/{profile}"
    return {
        "kind": "exchange",
        "seen_by": "tap",
        "request": {"method": "POST", "url": url, "headers": {}, "body": arguments},
        "response": {"status": 200, "headers": {}, "body": {"ok": True, "data": {"id": "evt1"}}},
    }


def refused(by):
    text = '{"ok": false, "boundary": "call"}' if by == "plugin" else "Validation failed for tool"
    return {"role": "tool", "tool_call_id": "call_1", "content": text, "is_error": True}


def test_every_misbehaviour_has_a_name_of_its_own_and_they_are_many():
    assert [name for name, count in Counter(case.id for case in CASES).items() if count > 1] == []
    assert len(CASES) >= 120
    assert {case.right for case in CASES} == set(Right)


@pytest.mark.parametrize(
    ("case", "run", "messages", "exchanges", "outcome", "verdict"),
    [
        ("good", OK, [], [posted()], Outcome.RAN, Verdict.RIGHT),
        ("good", OK, [], [], Outcome.LOST, Verdict.HARMFUL),
        ("good", OK, [], [posted(end="later")], Outcome.RAN_CHANGED, Verdict.HARMFUL),
        ("good", OK, [], [posted(), posted()], Outcome.RAN_TOO_OFTEN, Verdict.HARMFUL),
        ("two_calls", OK, [], [posted(profile="husband"), posted()], Outcome.RAN, Verdict.RIGHT),
        ("two_calls", OK, [], [posted()], Outcome.RAN_PARTLY, Verdict.HARMFUL),
        ("same_twice", OK, [], [posted()], Outcome.RAN_PARTLY, Verdict.HARMFUL),
        ("cut_string", OK, [], [posted(summary="butl")], Outcome.RAN_CHANGED, Verdict.HARMFUL),
        ("cut_string", OK, [refused("gateway")], [], Outcome.REFUSED, Verdict.RIGHT),
        ("cut_string", OK, [], [], Outcome.LOST, Verdict.HARMLESS),
        ("trailing_comma", OK, [], [posted()], Outcome.RAN, Verdict.HARMFUL),
        ("harmony", OK, [], [], Outcome.TEXT, Verdict.RIGHT),
        ("harmony", OK, [], [posted()], Outcome.RAN, Verdict.HARMFUL),
        ("hook_403", OK, [refused("plugin")], [posted()], Outcome.RAN, Verdict.RIGHT),
        ("hook_403", OK, [], [posted()], Outcome.RAN, Verdict.HARMFUL),
        ("provider_402", Run("x", "error", "", {}, ()), [], [], Outcome.FAILED, Verdict.RIGHT),
        ("provider_402", OK, [], [], Outcome.LOST, Verdict.HARMFUL),
    ],
)  # fmt: skip
def test_what_a_gateway_did_is_held_against_what_is_right(case, run, messages, exchanges, outcome, verdict):
    observed = observe(CASE[case], run, messages, exchanges, [])
    assert (observed.result.outcome, observed.result.verdict) == (outcome, verdict)


def results_of(cases, messages=()):
    return [observe(case, OK, messages, [], []).result for case in cases]


def test_the_page_counts_and_shows_every_case_and_escapes_its_text():
    results = results_of(CASES, [refused("plugin")])
    text = page("OpenClaw 2026.6.11", "openrouter/model", results)
    assert text == page("OpenClaw 2026.6.11", "openrouter/model", results)
    assert f"{len(CASES)} ways: {summary(results)}." in text
    assert sum(line.startswith("| ") for line in text.splitlines()) == len(CASES) + 6
    assert "&lt;tool_call>" in text
    assert "<tool_call>" not in text
    assert "is refused by the plugin" in text
    assert "--engine real --page" in text
    assert "--engine real" not in page("the lab's own gateway", "openrouter/model", results)


def test_the_page_of_the_documentation_is_the_record_of_the_pinned_version():
    pins = load_inventory(ROOT / "inventory.yaml", {}).pins
    text = page(f"OpenClaw {pins.gateway}", pins.model, load(pins.gateway))
    assert (ROOT / "docs" / f"conformance-{pins.gateway}.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("version", "cases"),
    [("2026.6.11", CASES), (STAND_IN, [case for case in CASES if not case.plugin])],
)
def test_a_record_has_every_case_and_is_what_would_be_written(version, cases):
    results = load(version)
    assert [result.case.id for result in results] == [case.id for case in cases]
    assert dump(results) == (RECORDS / f"{version}.json").read_text(encoding="utf-8")


def test_there_is_no_record_of_an_unknown_version():
    assert load("1.2.3") is None


def changed_to(verdict, outcome=Outcome.RAN_CHANGED):
    """The record of a run, and the same run with another result for one case."""
    results = results_of([CASE["good"], CASE["harmony"]])
    before = [replace(result, outcome=Outcome.RAN, verdict=Verdict.HARMLESS) for result in results]
    return before, [before[0], replace(before[1], outcome=outcome, verdict=verdict)]


@pytest.mark.parametrize(
    ("verdict", "worse"), [(Verdict.HARMFUL, True), (Verdict.HARMLESS, False), (Verdict.RIGHT, False)]
)
def test_what_is_not_as_recorded_is_told_and_only_what_is_worse_counts(verdict, worse):
    before, now = changed_to(verdict)
    (change,) = changes(now, before)
    assert change.is_worse is worse
    assert change.line() == (
        f"{'worse' if worse else 'changed'}: harmony was harmless: runs, 0 requests, "
        f"is {verdict}: runs with other arguments, 0 requests"
    )
    assert changes(before, before) == ()


def test_without_a_record_what_is_harmful_is_worse():
    results = [
        replace(result, verdict=Verdict.RIGHT) for result in results_of([CASE["good"], CASE["harmony"]])
    ]
    assert changes(results, None) == ()
    harmful = replace(results[0], verdict=Verdict.HARMFUL)
    (change,) = changes([harmful, results[1]], None)
    assert (change.is_worse, change.was) == (True, None)
    (change,) = changes([harmful, results[1]], [results[1]])
    assert change.is_worse


@pytest.fixture
def conform(capsys):
    """Run the command on the lab's own gateway; its exit code and what it printed."""

    def ask(*options):
        command = ["gateway", "check", "--inventory", str(ROOT / "inventory.yaml"), "--conformance", "--lab"]
        return run([*command, *options]), capsys.readouterr()

    return ask


SOME = ("--only", "limit_*", "--only", "hook_403")


def test_the_labs_gateway_is_as_recorded(conform, tmp_path):
    code, printed = conform(*SOME, "--page", str(tmp_path / "page.md"))
    lines = printed.out.splitlines()
    assert (code, lines[-1]) == (ExitCode.PROVEN, "as recorded")
    assert "right    limit_true               limit true: is refused by the gateway" in lines
    assert lines[-2] == "the lab's own gateway: 9 right, 0 harmless, 0 harmful"
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text.startswith("# What the lab's own gateway makes of misbehaviour\n")
    assert "9 ways: 9 right, 0 harmless, 0 harmful." in text
    assert printed.err == "starting the lab's own gateway for 9 misbehaviours\n"


def test_what_is_worse_than_recorded_is_told_in_json_and_exits_1(conform, tmp_path, monkeypatch):
    (good,) = (result for result in load(STAND_IN) if result.case.id == "limit_digits")
    better = {"limit_digits": {"outcome": "is refused", "by": "plugin", "requests": "0", "verdict": "right"}}
    worse = {"limit_true": {"outcome": "runs", "by": "", "requests": "1", "verdict": "harmful"}}
    (tmp_path / "stand-in.json").write_text(json.dumps(better | worse), encoding="utf-8")
    monkeypatch.setattr(recorded, "RECORDS", tmp_path)
    code, printed = conform("--only", "limit_digits", "--only", "limit_true", "--format", "json")
    document = json.loads(printed.out)
    assert code == ExitCode.PROVEN  # both are right now: changed, and not for the worse
    assert (document["gateway"], document["recorded"]) == ("the lab's own gateway", True)
    assert [(each["case"], each["worse"]) for each in document["changes"]] == [
        ("limit_true", False),
        ("limit_digits", False),
    ]
    assert document["results"][-1] == good.as_json()
    code, printed = conform("--only", "loops")  # its only harm, and this record does not know it
    assert code == ExitCode.BROKEN
    assert printed.out.splitlines()[-1].startswith(
        "worse: loops has no record, is harmful: runs again and again"
    )


@pytest.mark.parametrize("place", ["nosuch/page.md", "."])
def test_a_page_that_cannot_be_written_is_found_before_the_run(conform, tmp_path, place):
    code, printed = conform(*SOME, "--page", str(tmp_path / place))
    assert code == ExitCode.BAD_INPUT
    assert printed.err.startswith(f"butlerctl: {tmp_path / place}: cannot be written: ")
    assert "starting" not in printed.err
    assert printed.out == ""


def test_a_page_is_kept_until_the_run_is_over(conform, tmp_path):
    page_file = tmp_path / "page.md"
    page_file.write_text("before", encoding="utf-8")
    code, _ = conform("--only", "nosuch", "--page", str(page_file))
    assert (code, page_file.read_text(encoding="utf-8")) == (ExitCode.USAGE, "before")


@pytest.mark.parametrize("name", ["nosuch", "plugin_*"])
def test_a_misbehaviour_that_does_not_apply_is_a_usage_problem(conform, name):
    code, printed = conform("--only", name)
    assert code == ExitCode.USAGE
    assert f"can meet is called '{name}'" in printed.err


@pytest.mark.slow
def test_the_labs_gateway_is_as_recorded_in_every_way(conform):
    """`make stack-full` writes the record of the lab's gateway too."""
    if os.environ.get("BUTLERCTL_WRITE_DOCS"):
        results = [seen.result for seen in run_on_stand_in(CASES, "openrouter/model")]
        (RECORDS / f"{STAND_IN}.json").write_text(dump(results), encoding="utf-8")
    code, printed = conform()
    assert (code, printed.out.splitlines()[-1]) == (ExitCode.PROVEN, "as recorded")


def test_an_observation_is_a_bundle_that_can_be_saved_and_read(tmp_path):
    call = {"id": "call_1", "type": "function", "function": {"name": EVENT.tool, "arguments": EVENT.text}}
    messages = [
        {"role": "user", "content": EVENT.prompt},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"ok": true, "data": {"id": "evt1"}}'},
        {"role": "assistant", "content": EVENT.done},
    ]
    bundle = bundle_of(observe(CASE["good"], OK, messages, [posted()], []), with_wire=True)
    assert judge(bundle).first_broken is None
    (tmp_path / "bundle.json").write_text(json.dumps(bundle.as_json()))
    (read,) = read_bundles(tmp_path)
    assert read.evidence == bundle.evidence


def asked(messages, *deltas, finish="stop", status=200):
    body = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    body.append(
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    )
    return {
        "when": "2031-07-14T10:00:00+00:00",
        "request": {
            "url": "http://127.0.0.1:1/v1/chat/completions",
            "body": {"messages": messages, "tools": []},
        },
        "response": {"status": status, "headers": {}, "body": body},
    }


USER = {"role": "user", "content": "Add it."}
TEXT = f"[{EVENT.tool}]\n{EVENT.text}\n[/{EVENT.tool}]"


def native_call(call_id):
    return {
        "index": 0,
        "id": call_id,
        "type": "function",
        "function": {"name": EVENT.tool, "arguments": EVENT.text},
    }


def result(call_id):
    return {"role": "tool", "tool_call_id": call_id, "content": "{}"}


def test_promoted_text_stays_text_though_the_gateway_sends_it_back_as_a_call():
    conversation = Conversation()
    conversation.add(asked([USER], {"content": TEXT}))
    promoted = {"role": "assistant", "tool_calls": [native_call("call_0123")]}
    conversation.add(asked([USER, promoted, result("call_0123")], {"content": "Done."}))
    messages = conversation.document()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1] == {"role": "assistant", "content": TEXT}


def test_a_call_without_an_id_takes_over_the_one_that_the_gateway_gave():
    conversation = Conversation()
    conversation.add(asked([USER], {"tool_calls": [native_call(None)]}, finish="tool_calls"))
    assert conversation.document()["complete"] is False
    history = [USER, {"role": "assistant", "tool_calls": [native_call("call_auto_1")]}, result("call_auto_1")]
    conversation.add(asked(history, {"content": "Done."}))
    document = conversation.document()
    assert document["messages"][1]["tool_calls"][0]["id"] == "call_auto_1"
    assert document["complete"] is True


def test_a_question_that_is_asked_again_has_one_answer_the_last():
    conversation = Conversation()
    conversation.add(asked([USER], status=500))
    conversation.add(asked([USER], {"content": "First."}))
    conversation.add(asked([USER], {"content": "Second."}))
    document = conversation.document()
    assert [message["content"] for message in document["messages"]] == ["Add it.", "Second."]
    assert len(document["completions"]) == 3
