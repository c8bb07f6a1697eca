"""Rows and events of a gateway as messages: both texts of a call are kept, and no shape of a row stops the reading."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from test_frames import NAMES, VALUES

from butlerctl.gateway.events import with_events
from butlerctl.gateway.rows import messages_of, provider_failure, with_delivered
from butlerctl.judge.transcript import judge_transcript

CALL = {"type": "toolCall", "id": "c1", "name": "add_task", "arguments": {"profile": "husband"}}
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=6)
ROW = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "toolResult", "user", 7])},
    optional={
        "content": VALUES | st.lists(OBJECTS | st.fixed_dictionaries({"type": st.just("toolCall")}, optional=dict.fromkeys(("id", "name", "arguments", "partialArgs"), VALUES)), max_size=2),
        "stopReason": VALUES | st.just("error"), "errorCode": VALUES, "errorMessage": VALUES,
        "toolCallId": VALUES, "toolName": VALUES, "isError": VALUES,
    },
)  # fmt: skip
DATA = st.fixed_dictionaries(
    {"phase": st.sampled_from(["start", "result", "update"]) | VALUES},
    optional=dict.fromkeys(("toolCallId", "name", "args", "result", "isError"), VALUES),
)
EVENT = (
    st.fixed_dictionaries({"stream": st.just("tool") | VALUES}, optional={"data": DATA | VALUES}) | OBJECTS
)


def test_a_call_keeps_what_the_model_wrote_and_what_the_gateway_ran():
    written = '{"profile": "wife"}'
    rows = [{"role": "assistant", "content": [{**CALL, "partialArgs": written}, CALL]}]
    both, executed = messages_of(rows)[0]["tool_calls"]
    assert both["function"]["arguments"] == written
    assert both["executed_arguments"] == {"profile": "husband"}
    assert executed["function"]["arguments"] == '{"profile": "husband"}'
    assert executed["executed_arguments"] == {"profile": "husband"}


@given(rows=st.lists(ROW, max_size=3), events=st.lists(EVENT, max_size=4))
def test_no_row_and_no_event_stops_the_reading(rows, events):
    messages = with_delivered(with_events(messages_of(rows), events, "Add x."), "Done.")
    provider_failure(rows)
    assert messages[-1]["content"] == "Done."
    assert judge_transcript({"kind": "transcript", "messages": messages, "complete": True}).links
