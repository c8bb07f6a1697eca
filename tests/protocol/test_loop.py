from __future__ import annotations

import json
import socket
import threading
import time

import pytest
from scripted_provider import ScriptedProvider, call, events, failure, streamed, whole

from butlerctl.errors import BadInput
from butlerctl.protocol.budget import Budget
from butlerctl.protocol.loop import run_turn
from butlerctl.protocol.provider import ChatProvider
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.tools import ToolSchema

ASK = [{"role": "user", "content": "Put milk on the wife's list."}]
QUICK = Budget(retry_delay=0.01)
ARGUMENTS = {"profile": "wife", "title": "Buy milk"}


class Household:
    """A registry of one write tool and one read tool that remember what reached them."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, object]]] = []
        text = {"type": "string"}
        self.registry = Registry(
            [
                self._tool("add_task", {"profile": text, "title": text}, ["profile", "title"]),
                self._tool("list_tasks", {"profile": text, "limit": {"type": "integer"}}, ["profile"]),
            ]
        )

    def _tool(self, name: str, properties: dict[str, object], required: list[str]) -> Tool:
        def function(**arguments: object) -> dict[str, object]:
            self.ran.append((name, arguments))
            return {"ok": True, "id": f"id-{len(self.ran)}"}

        schema = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        return Tool(ToolSchema(name, name, schema), function)


def ask(
    server: ScriptedProvider, household: Household, *, stream: bool = True, budget: Budget = QUICK, **more
):
    with ChatProvider(server.url, "k-secret-value", "fake-1", stream=stream, timeout=5) as provider:
        return run_turn(provider, household.registry, ASK, budget=budget, **more)


@pytest.mark.parametrize(("stream", "form"), [(True, streamed), (False, whole), (True, whole)])
def test_a_call_is_run_once_and_its_observation_goes_back_to_the_model(stream, form):
    household = Household()
    with ScriptedProvider(form(calls=[call("add_task", ARGUMENTS)]), form("It is on the list.")) as server:
        turn = ask(server, household, stream=stream)

    assert household.ran == [("add_task", ARGUMENTS)]
    assert (turn.stop, turn.reply, turn.errors) == ("answered", "It is on the list.", ())
    assert [message["role"] for message in turn.messages] == ["user", "assistant", "tool", "assistant"]
    assert turn.messages[1]["tool_calls"][0]["function"]["arguments"] == json.dumps(ARGUMENTS)
    assert json.loads(turn.messages[2]["content"]) == {"ok": True, "id": "id-1"}
    assert turn.messages[2]["tool_call_id"] == "call_1"
    assert server.requests[1]["messages"] == list(turn.messages[:3])
    assert server.requests[0]["stream"] is stream
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["add_task", "list_tasks"]
    assert [completion["http_status"] for completion in turn.completions] == [200, 200]


def test_parallel_calls_are_matched_by_id_although_they_finish_out_of_order():
    household = Household()
    slow = threading.Event()

    def wait_then_answer(**arguments: object) -> dict[str, object]:
        slow.wait(5)
        return {"slow": arguments["profile"]}

    def answer_and_release(**arguments: object) -> dict[str, object]:
        slow.set()
        return {"fast": arguments["profile"]}

    household.registry.get("add_task").function = wait_then_answer
    household.registry.get("list_tasks").function = answer_and_release
    calls = [call("add_task", ARGUMENTS, "a"), call("list_tasks", {"profile": "husband"}, "b")]
    with ScriptedProvider(streamed(calls=calls), streamed("Done.")) as server:
        turn = ask(server, household, workers=2)

    answers = {message["tool_call_id"]: json.loads(message["content"]) for message in turn.messages[2:4]}
    assert answers == {"a": {"slow": "wife"}, "b": {"fast": "husband"}}


def test_every_call_that_cannot_run_gets_an_error_observation_and_spoils_no_neighbour():
    household = Household()
    calls = [
        call("launch_nukes", {"target": "moon"}, "a"),
        call("add_task", '{"profile":"wife","title":"Buy mi', "b"),
        call("add_task", {"profile": "wife", "title": 17}, "c"),
        call("list_tasks", {"profile": "wife", "limit": "17"}, "d"),
    ]
    with ScriptedProvider(streamed(calls=calls), streamed("I could not do all of it.")) as server:
        turn = ask(server, household)

    assert turn.errors == ("unknown_tool", "invalid_json", "invalid_args")
    assert household.ran == [("list_tasks", {"profile": "wife", "limit": 17})]
    assert [message["tool_call_id"] for message in turn.messages if message["role"] == "tool"] == list("abcd")
    assert [observation.executed for observation in turn.observations] == [False, False, False, True]


def test_the_record_keeps_what_the_model_wrote_and_the_provider_gets_back_what_it_can_take():
    household = Household()
    calls = [call("add_task<|channel|>x", '{"profile":"wife",', "a")]
    with ScriptedProvider(streamed(calls=calls), streamed("Sorry.")) as server:
        turn = ask(server, household)

    assert turn.messages[1]["tool_calls"][0]["function"] == {
        "name": "add_task<|channel|>x",
        "arguments": '{"profile":"wife",',
    }
    assert server.requests[1]["messages"][1]["tool_calls"][0]["function"] == {
        "name": "invalid_name",
        "arguments": "{}",
    }
    assert turn.leaks == ("name_delimiter",)


def test_a_429_and_a_500_are_asked_again_and_never_repeat_a_write():
    household = Household()
    script = [
        failure(429, **{"Retry-After": "0"}),
        streamed(calls=[call("add_task", ARGUMENTS)]),
        failure(500),
        streamed("It is on the list."),
    ]
    with ScriptedProvider(*script) as server:
        turn = ask(server, household)

    assert turn.stop == "answered"
    assert household.ran == [("add_task", ARGUMENTS)]
    assert [completion["http_status"] for completion in turn.completions] == [429, 200, 500, 200]


def test_a_provider_that_dies_after_a_write_leaves_the_write_in_the_transcript():
    household = Household()
    with ScriptedProvider(streamed(calls=[call("add_task", ARGUMENTS)]), failure(503)) as server:
        turn = ask(server, household)

    assert turn.stop == "provider_error"
    assert len(server.requests) == 1 + QUICK.attempts
    assert household.ran == [("add_task", ARGUMENTS)]
    assert turn.messages[-1]["role"] == "tool"


def test_a_401_is_not_asked_again():
    with ScriptedProvider(failure(401)) as server:
        turn = ask(server, Household())

    assert (turn.stop, len(server.requests)) == ("provider_error", 1)


def test_an_error_in_mid_stream_discards_the_completion_and_asks_again():
    piece = {"index": 0, "id": "g", "function": {"name": "add_task", "arguments": json.dumps(ARGUMENTS)}}
    broken = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]},
        {
            "error": {"code": 502, "message": "gone"},
            "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}],
        },
    ]
    household = Household()
    with ScriptedProvider(events(broken), streamed("Nothing was done.")) as server:
        turn = ask(server, household)

    assert (turn.stop, turn.reply, household.ran) == ("answered", "Nothing was done.", [])


def test_a_stream_without_a_finish_runs_nothing_and_tells_the_model():
    whole_call = {"index": 0, "id": "w", "function": {"name": "add_task", "arguments": json.dumps(ARGUMENTS)}}
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [whole_call]}, "finish_reason": None}]}]
    household = Household()
    with ScriptedProvider(events(chunks), streamed("I will try again later.")) as server:
        turn = ask(server, household)

    assert household.ran == []
    assert turn.errors == ("invalid_json",)
    assert "incomplete" in turn.notes
    assert json.loads(turn.messages[2]["content"])["error"]["code"] == "invalid_json"


def test_a_model_that_loops_is_stopped_by_the_budget():
    household = Household()
    with ScriptedProvider(streamed(calls=[call("list_tasks", {"profile": "wife"})])) as server:
        turn = ask(server, household, budget=Budget(turns=3))

    assert (turn.stop, turn.limit, len(household.ran)) == ("over_budget", "turns", 3)


def test_calls_beyond_the_budget_are_answered_and_not_run():
    household = Household()
    calls = [call("list_tasks", {"profile": "wife"}, str(number)) for number in range(4)]
    with ScriptedProvider(streamed(calls=calls)) as server:
        turn = ask(server, household, budget=Budget(calls=2))

    assert [observation.code for observation in turn.observations] == [
        None,
        None,
        "over_budget",
        "over_budget",
    ]
    assert (turn.stop, turn.limit, len(household.ran)) == ("over_budget", "calls", 2)


def test_tokens_that_the_provider_reports_count_against_the_budget():
    usage = {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110}
    step = streamed(calls=[call("list_tasks", {"profile": "wife"})], usage=usage)
    with ScriptedProvider(step) as server:
        turn = ask(server, Household(), budget=Budget(tokens=200))

    assert (turn.stop, turn.limit) == ("over_budget", "tokens")
    assert turn.usage == {"requests": 2, "prompt_tokens": 180, "completion_tokens": 40, "total_tokens": 220}


def test_cancelling_answers_the_calls_that_had_not_started():
    household = Household()
    cancel = threading.Event()

    def cancel_now(**_: object) -> str:
        cancel.set()
        return "stopped"

    household.registry.get("list_tasks").function = cancel_now
    calls = [call("list_tasks", {"profile": "wife"}, "a"), call("add_task", ARGUMENTS, "b")]
    with ScriptedProvider(streamed(calls=calls)) as server:
        turn = ask(server, household, cancel=cancel)

    assert turn.stop == "cancelled"
    assert [observation.code for observation in turn.observations] == [None, "cancelled"]
    assert household.ran == []


def test_a_reply_that_imitates_a_call_is_a_leak_and_runs_nothing():
    household = Household()
    text = '<tool_call>\n{"name": "add_task", "arguments": {"profile": "wife", "title": "x"}}\n</tool_call>'
    with ScriptedProvider(streamed(text)) as server:
        turn = ask(server, household)

    assert (turn.leaks, turn.stop, household.ran) == (("tool_call_xml",), "answered", [])


def test_a_tool_that_raises_is_told_to_the_model_as_a_failure_of_unknown_effect():
    household = Household()

    def explode(**_: object) -> None:
        raise TypeError("boom")

    household.registry.get("add_task").function = explode
    with ScriptedProvider(streamed(calls=[call("add_task", ARGUMENTS)]), streamed("It failed.")) as server:
        turn = ask(server, household)

    observation = turn.observations[0]
    assert (observation.code, observation.executed) == ("tool_error", True)
    assert "TypeError: boom" in observation.content


@pytest.mark.parametrize("body", [b'{"choices": null}', b"<html>maintenance</html>", b"", b"[]"])
def test_a_200_without_a_completion_is_no_answer(body):
    answer = (200, {"Content-Type": "application/json"}, body)
    with ScriptedProvider(answer) as server:
        turn = ask(server, Household())

    assert (turn.stop, turn.reply, turn.messages) == ("no_completion", "", tuple(ASK))


def test_a_text_that_was_cut_off_is_no_answer():
    with ScriptedProvider(streamed("I have put it on the li", finish="length")) as server:
        turn = ask(server, Household())

    assert turn.stop == "cut_off"


def test_an_unreachable_provider_is_an_outcome_and_no_exception():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ChatProvider(f"http://127.0.0.1:{port}/v1", "", "fake-1") as provider:
        turn = run_turn(provider, Household().registry, ASK, budget=QUICK)

    assert turn.stop == "provider_error"
    assert [completion["http_status"] for completion in turn.completions] == [None] * QUICK.attempts


def test_a_provider_that_hangs_is_left_within_the_time_limit():
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}/v1"
        started = time.monotonic()
        with ChatProvider(url, "", "fake-1", timeout=0.2) as provider:
            turn = run_turn(provider, Household().registry, ASK, budget=Budget(seconds=1, retry_delay=0.01))

    assert turn.stop == "provider_error"
    assert time.monotonic() - started < 3


def test_the_key_is_sent_and_never_recorded():
    with ScriptedProvider(whole("The key is k-secret-value.")) as server:
        turn = ask(server, Household(), stream=False)

    assert server.authorizations == ["Bearer k-secret-value"]
    assert "k-secret-value" not in json.dumps(turn.completions)


def test_reasoning_goes_back_to_a_provider_that_insists_on_it():
    thoughtful = [
        {"choices": [{"index": 0, "delta": {"reasoning_content": "Milk, "}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"reasoning_content": "then."}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call("add_task", ARGUMENTS)}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    with ScriptedProvider(events(thoughtful), streamed("Done.")) as server:
        ask(server, Household())

    assert server.requests[1]["messages"][1]["reasoning_content"] == "Milk, then."


def test_words_that_are_no_unicode_do_not_stop_the_next_question():
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": "half \ud83d"}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call("add_task", ARGUMENTS)}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    with ScriptedProvider(events(chunks), streamed("Done.")) as server:
        turn = ask(server, Household())

    assert (turn.stop, len(server.requests)) == ("answered", 2)


def test_numbers_that_are_no_amounts_are_not_counted():
    body = b'{"usage": {"total_tokens": NaN, "cost": 1e999, "prompt_tokens": 3}, "choices": []}'
    with ScriptedProvider((200, {"Content-Type": "application/json"}, body)) as server:
        turn = ask(server, Household())

    assert turn.usage == {"requests": 1, "prompt_tokens": 3}


def test_a_payload_nested_without_end_is_no_completion():
    body = b'{"choices": ' + b"[" * 500 + b"]" * 500 + b"}"
    with ScriptedProvider((200, {"Content-Type": "application/json"}, body)) as server:
        assert ask(server, Household()).stop == "no_completion"


@pytest.mark.parametrize("key", ["k\n", "k\u00e9y"])
def test_a_key_that_no_header_can_carry_is_bad_input(key):
    with pytest.raises(BadInput) as caught:
        ChatProvider("http://127.0.0.1:1/v1", key, "fake-1")
    assert key not in str(caught.value)
