"""Native is what the provider's own answer holds: without a record of the wire nobody says so."""

from __future__ import annotations

import json

import pytest
from turns import Turn, arguments, bundle, call_message, of

from butlerctl.evidence import bundle_of, digest
from butlerctl.judge import judge
from butlerctl.judge.transcript import judge_transcript

TURN = Turn(operation="tasks_add")
ARGUMENTS = {"profile": "anna", **arguments(TURN)}
SAID = {"role": "assistant", "content": "Added."}
NATIVE = call_message("add_task", ARGUMENTS)


def completion(message, finish="stop"):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"http_status": 200, "body": {"choices": [choice]}}


def with_wire(document, *answers, how="tap", **more):
    """The bundle with the provider's answers: as a tap's transcript, or in the transcript itself."""
    transcript = of(document, "transcript")
    record = {"completions": list(answers), **more}
    if how == "own":
        transcript.update(record)
        return document
    held = [answer["body"]["choices"][0]["message"] for answer in answers]
    if "tool_calls" in held[0]:  # the tap names a call without an id as the gateway did
        (call,) = held[0]["tool_calls"]
        held[0] = {**held[0], "tool_calls": [{**call, "id": "c1"}]}
    messages = [transcript["messages"][0], held[0], transcript["messages"][2], *held[1:]]
    tap = {"kind": "transcript", "seen_by": "tap", "complete": True, "messages": messages, **record}
    document["evidence"].insert(3, tap)
    return document


def call_link(document):
    judgement = judge(bundle_of(document))
    return judgement.links[0]


def test_a_transcript_alone_is_not_called_native():
    link = call_link(bundle(TURN))
    assert link.verdict == "proven"
    assert link.reason.startswith("a structured call of add_task with the asked arguments in the transcript")
    assert "was not recorded" in link.reason
    assert "a native call" not in link.reason


def test_a_call_that_is_known_from_events_alone_says_so():
    document = bundle(TURN)
    of(document, "transcript")["messages"][1]["source"] = "event"
    assert "in the gateway's events" in call_link(document).reason


@pytest.mark.parametrize("how", ["own", "tap"])
@pytest.mark.parametrize("call_id", ["c1", ""])
def test_a_call_that_the_providers_answer_holds_is_native(how, call_id):
    """A gateway gives a call without an id one of its own."""
    message = call_message("add_task", ARGUMENTS, call_id)
    document = with_wire(bundle(TURN), completion(message, "tool_calls"), completion(SAID), how=how)
    judgement = judge(bundle_of(document))
    assert judgement.verdict == "PASS"
    assert judgement.links[0].reason.startswith("a native call of add_task")
    records = [item for item in document["evidence"] if item["kind"] == "transcript"]
    assert sorted(judgement.links[0].rests_on) == sorted(digest(record) for record in records)


@pytest.mark.parametrize("how", ["own", "tap"])
def test_a_call_that_was_made_out_of_text_is_none_of_the_models(how):
    text = {"role": "assistant", "content": f"[add_task]\n{json.dumps(ARGUMENTS)}\n[/add_task]"}
    document = with_wire(bundle(TURN), completion(text), completion(SAID), how=how)
    judgement = judge(bundle_of(document))
    assert judgement.verdict == "FAIL"
    assert judgement.first_broken.check == "call.promoted_text"
    assert judgement.turn == "unexplained_effect"
    assert "call.promoted_text" in [note.check for note in judgement.notes]


@pytest.mark.parametrize("how", ["own", "tap"])
def test_a_name_that_the_gateway_corrected_is_the_models_all_the_same(how):
    message = call_message("functions.add_task", ARGUMENTS)
    document = with_wire(bundle(TURN), completion(message, "tool_calls"), completion(SAID), how=how)
    first = judge(bundle_of(document)).first_broken
    assert first.check == "call.tool_name"
    assert 'a call of "functions.add_task"' in first.seen


def test_a_record_that_may_have_stopped_disproves_nothing():
    document = with_wire(bundle(TURN), completion(SAID), how="own")
    judgement = judge(bundle_of(document))
    assert judgement.verdict == "PASS"
    assert "was not recorded" in judgement.links[0].reason


def test_a_providers_failure_is_no_record_of_the_wire():
    document = bundle(TURN)
    failure = {"http_status": 429, "body": {"error": {"message": "slow down"}}}
    of(document, "transcript")["completions"] = [failure, {"http_status": 200, "body": "a page"}]
    assert "was not recorded" in call_link(document).reason


def test_of_several_repeats_no_record_speaks_for_another():
    document = with_wire(bundle(TURN), completion(NATIVE, "tool_calls"), completion(SAID))
    second = json.loads(json.dumps(of(document, "transcript")))
    document["evidence"].append(second)
    assert "was not recorded" in call_link(document).reason


@pytest.mark.parametrize(("call_end", "said_end", "odd"), [("stop", "stop", True), ("tool_calls", "tool_calls", True), ("tool_calls", "stop", False)])  # fmt: skip
def test_a_finish_reason_that_does_not_fit_is_a_note_and_no_break(call_end, said_end, odd):
    document = with_wire(bundle(TURN), completion(NATIVE, call_end), completion(SAID, said_end))
    judgement = judge(bundle_of(document))
    assert judgement.verdict == "PASS"
    assert ("call.finish_mismatch" in [note.check for note in judgement.notes]) is odd


def test_calls_that_were_made_into_one_are_a_note():
    document = bundle(TURN)
    of(document, "transcript")["messages"][1] = call_message(
        "add_task", json.dumps(ARGUMENTS) + ' {"profile": "bert"}'
    )
    judgement = judge(bundle_of(document))
    assert judgement.first_broken.check == "call.args_json"
    assert [note.check for note in judgement.notes] == ["call.merged_calls"]


@pytest.mark.parametrize("raw", ['{"profile": "anna"', '{"a": 1} and more', "{} {", "[1] [2]", ""])
def test_other_broken_arguments_are_no_merged_calls(raw):
    document = of(bundle(TURN), "transcript")
    document["messages"][1] = call_message("add_task", raw)
    assert "call.merged_calls" not in [note.check for note in judge_transcript(document).notes]


def test_a_result_that_is_an_error_is_a_note_of_a_transcript():
    document = of(bundle(TURN), "transcript")
    assert "call.result_error" not in [note.check for note in judge_transcript(document).notes]
    document["messages"][2]["is_error"] = True
    assert "call.result_error" in [note.check for note in judge_transcript(document).notes]
