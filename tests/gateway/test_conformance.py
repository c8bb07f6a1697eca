"""The conformance run's own parts: the catalogue, what is made of an observation, the page, the wire as evidence."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from butlerctl.evidence import read_bundles
from butlerctl.gateway.operator import Run
from butlerctl.gateway.tap_record import Conversation
from butlerctl.judge import judge
from butlerctl.lab.conformance.case import Right
from butlerctl.lab.conformance.catalogue import CASES
from butlerctl.lab.conformance.evidence import bundle_of
from butlerctl.lab.conformance.outcome import Outcome, Verdict, observe
from butlerctl.lab.conformance.page import page, summary
from butlerctl.lab.conformance.questions import EVENT

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
    assert len(CASES) >= 100
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
    assert (observed.outcome, observed.verdict) == (outcome, verdict)


def test_the_page_counts_and_shows_every_case_and_escapes_its_text():
    results = [observe(case, OK, [refused("plugin")], [], []) for case in CASES]
    text = page("2026.6.11", "openrouter/model", results)
    assert text == page("2026.6.11", "openrouter/model", results)
    assert f"{len(CASES)} ways: {summary(results)}." in text
    assert sum(line.startswith("| ") for line in text.splitlines()) == len(CASES) + 5
    assert "&lt;tool_call>" in text
    assert "<tool_call>" not in text
    assert "is refused by the plugin" in text


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
