"""Which exchanges make one transcript: those of one conversation, and equal words are not enough."""

from __future__ import annotations

import json

import pytest
from tap_bench import chunk

from butlerctl.gateway.tap_record import EvidenceFolder

QUESTION = [{"role": "system", "content": "You are a butler."}, {"role": "user", "content": "Add milk."}]
ARGUMENTS = '{"profile":"wife","title":"milk"}'


def events(*deltas, finish="stop"):
    pieces = [*(chunk(delta) for delta in deltas), chunk({}, finish)]
    return [json.loads(piece.removeprefix(b"data: ")) for piece in pieces]


def calls(call_id="call_1", arguments=ARGUMENTS):
    function = {"name": "add_task", "arguments": arguments}
    call = {"index": 0, "id": call_id, "type": "function", "function": function}
    return events({"tool_calls": [call]}, finish="tool_calls")


def says(text):
    return events({"content": text})


def exchange(messages, body, *, status=200, trace="", error=""):
    response = {"status": status, "headers": {}, "body": body, "elapsed_ms": 1}
    return {
        "kind": "exchange",
        "seen_by": "tap",
        "when": "2026-07-04T10:00:00+00:00",
        "request": {
            "method": "POST",
            "url": "http://127.0.0.1/v1/chat/completions",
            "headers": {"traceparent": f"00-{trace * 32}-{'c' * 16}-01"} if trace else {},
            "body": {"model": "m", "messages": messages},
        },
        "response": {**response, "error": error} if error else response,
    }


def went_on(messages, call_id="call_1", result="evt1", said=None):
    """The history after a call and its result, as the gateway sends it."""
    function = {"name": "add_task", "arguments": ARGUMENTS}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        *messages,
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


def transcripts(tmp_path, *exchanges):
    """For each transcript the roles of its messages and the results in it."""
    folder = EvidenceFolder(tmp_path)
    for item in exchanges:
        folder.record(item)
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(tmp_path.iterdir())]
    return [
        " ".join(
            message["content"] if message["role"] == "tool" else message["role"][0]
            for message in document["messages"]
        )
        for document in documents
    ]


TRACES = pytest.mark.parametrize(
    "traces", [("", ""), ("a", "b"), ("a", "a")], ids=["no traces", "two traces", "one trace"]
)


@TRACES
def test_two_sessions_with_equal_words_are_two_transcripts(tmp_path, traces):
    one, two = traces
    found = transcripts(
        tmp_path,
        exchange(QUESTION, calls(), trace=one),
        exchange(QUESTION, calls(), trace=two),
        exchange(went_on(QUESTION, result="evt2"), says("Done."), trace=two),
        exchange(went_on(QUESTION, result="evt1"), says("Done."), trace=one),
    )
    assert found == ["u a evt1 a", "u a evt2 a"]


@TRACES
def test_a_job_that_is_run_again_after_its_call_is_a_transcript_of_its_own(tmp_path, traces):
    one, two = traces
    assert transcripts(
        tmp_path,
        exchange(QUESTION, calls("call_a"), trace=one),
        exchange(went_on(QUESTION, "call_a"), {"error": {"message": "slow"}}, status=429, trace=one),
        exchange(QUESTION, calls("call_b"), trace=two),
        exchange(went_on(QUESTION, "call_b", "evt2"), says("Done."), trace=two),
    ) == ["u a evt1", "u a evt2 a"]


@TRACES
def test_sessions_with_equal_words_and_other_ids_go_on_where_they_were(tmp_path, traces):
    one, two = traces
    assert transcripts(
        tmp_path,
        exchange(QUESTION, calls("call_a"), trace=one),
        exchange(QUESTION, calls("call_b"), trace=two),
        exchange(went_on(QUESTION, "call_a"), says("Done."), trace=one),
        exchange(went_on(QUESTION, "call_b", "evt2"), says("Done."), trace=two),
    ) == ["u a evt1 a", "u a evt2 a"]


UNUSABLE = {
    "refused": {"body": {"error": {"message": "slow"}}, "status": 429},
    "broken off": {"body": says("Do"), "error": "the answer broke off"},
    "cut off": {"body": calls()[:-1]},
    "arguments that are no JSON": {"body": calls(arguments='{"profile":"wife"')},
    "nothing": {"body": says("")},
}


@pytest.mark.parametrize("first", UNUSABLE.values(), ids=UNUSABLE.keys())
@pytest.mark.parametrize("trace", ["", "a"])
def test_another_try_after_an_answer_that_nobody_could_use_stays_in_its_transcript(tmp_path, first, trace):
    again = exchange(QUESTION, calls(), trace=trace)
    then = exchange(went_on(QUESTION), says("Done."), trace=trace)
    assert transcripts(tmp_path, exchange(QUESTION, trace=trace, **first), again, then) == ["u a evt1 a"]


def test_the_tries_of_a_job_may_share_a_trace_and_are_transcripts_of_their_own(tmp_path):
    assert transcripts(
        tmp_path,
        exchange(QUESTION, calls(), trace="a"),
        exchange(went_on(QUESTION), {"error": {"message": "slow"}}, status=429, trace="a"),
        exchange(QUESTION, calls(), trace="a"),
        exchange(QUESTION, calls(), trace="a"),
        exchange(went_on(QUESTION, result="evt2"), says("Done."), trace="a"),
    ) == ["u a evt1", "u a", "u a evt2 a"]


def test_a_failed_turn_and_the_next_with_the_same_words_are_told_apart_by_their_traces(tmp_path):
    assert transcripts(
        tmp_path,
        exchange(QUESTION, {}, status=500, trace="a"),
        exchange(QUESTION, says("Done."), trace="b"),
    ) == ["u", "u a"]


def test_the_next_turn_of_a_session_goes_on_in_its_transcript(tmp_path):
    after = [
        *went_on(QUESTION),
        {"role": "assistant", "content": "Done. "},
        {"role": "user", "content": "Thanks."},
    ]
    moved = [{"role": "system", "content": "You are a butler. It is late."}, *after[1:]]
    assert transcripts(
        tmp_path,
        exchange(QUESTION, calls(), trace="a"),
        exchange(went_on(QUESTION), says("Done."), trace="a"),
        exchange(moved, says("Always."), trace="b"),
    ) == ["u a evt1 a u a"]


def test_a_gateway_that_marks_messages_for_a_cache_goes_on_all_the_same(tmp_path):
    marked = {"type": "text", "text": "Add milk.", "cache_control": {"type": "ephemeral"}}
    history = went_on([QUESTION[0], {"role": "user", "content": [marked]}])
    assert transcripts(tmp_path, exchange(QUESTION, calls()), exchange(history, says("Done."))) == [
        "u a evt1 a"
    ]


def test_a_text_that_the_gateway_made_into_a_call_goes_on_by_its_trace(tmp_path):
    text = f"[add_task]\n{ARGUMENTS}\n[/add_task]"
    after = went_on(QUESTION, "call_0123456789")
    first = exchange(QUESTION, says(text), trace="a")
    assert transcripts(tmp_path, first, exchange(after, says("Done."), trace="a")) == ["u a evt1 a"]


def test_an_answer_that_is_not_in_the_history_is_no_earlier_part_of_it(tmp_path):
    other = exchange(went_on(QUESTION), says("Done."))
    assert transcripts(tmp_path, exchange(QUESTION, says("No.")), other) == ["u a", "evt1 a"]
