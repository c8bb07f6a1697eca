"""What must hold for every stream and every text, not only for the recorded ones."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_cases import CASES, STREAMS, TEXTS, case_id, dispatchable, turn_of

CHAT_STREAMS = [case for case in STREAMS if case["vendor"] == "openai_chat"]
CHAT_RESPONSES = [
    case
    for case in CASES
    if case["vendor"] in ("openai_chat", "mistral")
    and isinstance(case["payload"], dict)
    and case["payload"]["choices"] is not None
]
QUICK = settings(max_examples=25, deadline=None, derandomize=True)


def codes(turn: Any) -> list[str]:
    return [call.code for call in turn.rejected]


@pytest.mark.parametrize("case", STREAMS + TEXTS, ids=case_id)
def test_no_prefix_yields_a_call_that_the_whole_does_not_yield(case):
    payload = case["payload"]
    whole = Counter(dispatchable(turn_of(case["vendor"], payload)))
    for length in range(len(payload)):
        assert Counter(dispatchable(turn_of(case["vendor"], payload[:length]))) <= whole


@pytest.mark.parametrize("case", CHAT_STREAMS, ids=case_id)
def test_a_prefix_without_a_finish_yields_no_call_at_all(case):
    for length, chunk in enumerate(case["payload"]):
        if isinstance(chunk, dict) and any(choice.get("finish_reason") for choice in chunk["choices"]):
            break
        assert dispatchable(turn_of(case["vendor"], case["payload"][: length + 1])) == []


def split_arguments(chunk: dict[str, Any], cut: int) -> list[dict[str, Any]]:
    """The chunk, with the arguments of its only delta cut in two at a place that `cut` picks."""
    deltas = ((chunk.get("choices") or [{}])[0].get("delta") or {}).get("tool_calls") or []
    text = deltas[0]["function"].get("arguments") if len(deltas) == 1 and "function" in deltas[0] else None
    if not isinstance(text, str) or not text:
        return [chunk]
    first, second = copy.deepcopy(chunk), copy.deepcopy(chunk)
    at = cut % (len(text) + 1)
    first["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = text[:at]
    rest = {"function": {"arguments": text[at:]}}
    if "index" in deltas[0]:
        rest["index"] = deltas[0]["index"]
    second["choices"][0]["delta"] = {"tool_calls": [rest]}
    return [first, second]


@pytest.mark.parametrize("case", CHAT_STREAMS, ids=case_id)
@given(cuts=st.lists(st.integers(0, 200), min_size=8, max_size=8))
@QUICK
def test_cutting_the_pieces_elsewhere_changes_nothing(case, cuts):
    payload = [
        piece
        for number, chunk in enumerate(case["payload"])
        for piece in (split_arguments(chunk, cuts[number % 8]) if isinstance(chunk, dict) else [chunk])
    ]
    before, after = turn_of("openai_chat", case["payload"]), turn_of("openai_chat", payload)
    assert (dispatchable(after), codes(after), after.leaks) == (
        dispatchable(before),
        codes(before),
        before.leaks,
    )


def as_stream(response: dict[str, Any], size: int) -> list[dict[str, Any]]:
    """A response object as the chunks in which a provider would have streamed it."""
    choice = response["choices"][0]
    message = choice["message"]
    text = message.get("content") or ""
    deltas: list[dict[str, Any]] = [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    for index, call in enumerate(message.get("tool_calls") or []):
        arguments = call.get("function", {}).get("arguments")
        opening = copy.deepcopy({**call, "index": index})
        pieces: list[Any] = [arguments] if isinstance(arguments, dict) else []
        if isinstance(arguments, str):
            opening["function"]["arguments"] = ""
            pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
        elif "function" in opening:
            opening["function"].pop("arguments", None)
        deltas.append({"tool_calls": [opening]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}]


@pytest.mark.parametrize("case", CHAT_RESPONSES, ids=case_id)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_response_and_its_stream_are_the_same_turn(case, size):
    whole = turn_of(case["vendor"], case["payload"])
    stream = turn_of(case["vendor"], as_stream(case["payload"], size))
    assert (dispatchable(stream), codes(stream)) == (dispatchable(whole), codes(whole))
    assert (set(stream.leaks), set(stream.notes)) == (set(whole.leaks), set(whole.notes))
