"""Damaged payloads: whatever a provider sends, the outcome is calls, errors, leaks, or a BadDocument.

BUTLERCTL_FUZZ_EXAMPLES sets how many examples each test tries; 30000 make a run of about ten minutes.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wire_cases import CASES, registry

from butlerctl.errors import BadDocument
from butlerctl.protocol.budget import Budget
from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.dispatch import dispatch_all
from butlerctl.protocol.leaks import find_leaks
from butlerctl.protocol.loop import run_turn
from butlerctl.protocol.normalize import normalize
from butlerctl.protocol.provider import Completion
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.wires import ADAPTERS

EXAMPLES = int(os.environ.get("BUTLERCTL_FUZZ_EXAMPLES", "60"))
FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="BUTLERCTL_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)

WORDS = (Path(__file__).parent / "fuzz_words.txt").read_text(encoding="utf-8").splitlines()


def keys_in(value: Any) -> set[str]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = set(value) if isinstance(value, dict) else set()
    return own.union(*map(keys_in, inside))


KEYS = sorted(keys_in([case["payload"] for case in CASES]))
VALUES = ["add_task", "{}", '{"profile":"wife","title":"x"}', "tool_calls", "stop", "null", "\ud83d"]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(VALUES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
MARKUP = st.lists(st.sampled_from([*WORDS, " ", "\n"]) | st.text(max_size=6), max_size=24).map("".join)
JSON_LIKE = st.lists(st.sampled_from([*'{}[]":,\\u0d8aeN1-.', "null", "NaN"]), max_size=30).map("".join)


class MustNotRun(AssertionError):
    pass


def trapped_registry() -> Registry:
    """The six tools and one function for each that raises when it is reached by what is no valid call."""

    def trap(schema_name: str) -> Any:
        def function(**arguments: Any) -> dict[str, Any]:
            if allowed.get(schema_name).faults(arguments):
                raise MustNotRun(schema_name)
            return {"ok": True}

        return function

    allowed = registry()
    return Registry(Tool(tool.schema, trap(tool.schema.name)) for tool in allowed)


REGISTRY = trapped_registry()


def check(adapter: str, payload: Any) -> None:
    try:
        turn = normalize(adapter, payload, REGISTRY)
    except BadDocument:
        return
    observations = dispatch_all(turn.items, REGISTRY)
    assert [observation.id for observation in observations] == [item.id for item in turn.items]
    assert len({item.id for item in turn.items}) == len(turn.items)
    assert not [observation for observation in observations if observation.code == "tool_error"]
    assert {call.name for call in turn.calls} <= set(REGISTRY.names)
    json.dumps([observation.content for observation in observations]).encode()


@st.composite
def damaged_case(draw: st.DrawFn) -> tuple[str, Any]:
    """A recorded payload in which one to four places were replaced, removed or doubled."""
    case = draw(st.sampled_from(CASES))
    payload = copy.deepcopy(case["payload"])
    for _ in range(draw(st.integers(1, 4))):
        payload = damage(draw, payload)
    return case["vendor"], payload


def damage(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: damage(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        action = draw(st.sampled_from(["inside", "inside", "drop", "double"]))
        middle = {
            "inside": lambda: [damage(draw, value[at])],
            "drop": list,
            "double": lambda: [value[at]] * 2,
        }
        return [*value[:at], *middle[action](), *value[at + 1 :]]
    if isinstance(value, str) and draw(st.booleans()):
        at = draw(st.integers(0, len(value)))
        return (
            value[:at]
            + draw(st.sampled_from(["", '"', "}", ",", "\\", "\ud83d", " ", "1"]))
            + value[at + 1 :]
        )
    return draw(ANY_JSON)


@given(damaged_case())
@FUZZ
def test_a_damaged_turn_has_an_outcome(case):
    check(*case)


@given(st.sampled_from(sorted(ADAPTERS)), ANY_JSON)
@FUZZ
def test_any_json_has_an_outcome(adapter, payload):
    check(adapter, payload)


class AnyProvider:
    """Answers every question with the same payload."""

    def __init__(self, adapter: str, payload: Any) -> None:
        self.adapter = adapter
        self.payload = payload

    def complete(self, messages: Any, *_: Any, **__: Any) -> Completion:
        json.dumps(messages)
        return Completion(200, {}, self.payload)


@given(damaged_case() | st.tuples(st.sampled_from(sorted(ADAPTERS)), ANY_JSON))
@FUZZ
def test_the_loop_ends_whatever_the_provider_sends(case):
    turn = run_turn(AnyProvider(*case), REGISTRY, [], budget=Budget(turns=2, attempts=1))
    assert len(turn.calls) == len(turn.observations)
    json.dumps([*turn.messages, *turn.completions])


@given(
    st.sampled_from(sorted(name for name in ADAPTERS if name.endswith("_text"))),
    MARKUP,
)
@FUZZ
def test_any_markup_has_an_outcome(adapter, text):
    check(adapter, text)


@given(MARKUP)
@FUZZ
def test_any_markup_can_be_searched_for_leaks(text):
    find_leaks(text, REGISTRY.names)


@given(st.text() | JSON_LIKE)
@FUZZ
def test_strict_decoding_accepts_nothing_that_the_standard_parser_refuses(text):
    try:
        value = decode(text)
    except NotStrictJson:
        return
    assert json.loads(text) == value
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


@given(st.text())
@FUZZ
def test_no_unknown_name_ever_reaches_a_function(name):
    if name in REGISTRY.names:
        return
    entry = {"id": "a", "function": {"name": name, "arguments": '{"profile":"wife","title":"x"}'}}
    response = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [entry]}}]}

    def explode(**_: Any) -> None:
        raise MustNotRun

    exploding = Registry(Tool(schema, explode) for schema in REGISTRY.schemas)
    turn = normalize("openai_chat", response, exploding)
    assert [observation.code for observation in dispatch_all(turn.items, exploding)] == ["unknown_tool"]


@pytest.mark.parametrize("name", ["os.system", "__import__", "__class__", "globals", "get", "add", "names"])
def test_names_that_python_knows_are_unknown_too(name):
    entry = {"id": "a", "function": {"name": name, "arguments": "{}"}}
    response = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [entry]}}]}
    assert [call.code for call in normalize("openai_chat", response, REGISTRY).rejected] == ["unknown_tool"]
