"""Dispatch without functions: a recorded list of calls against recorded answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.protocol.call import Call
from butlerctl.protocol.dispatch import dispatch
from butlerctl.protocol.normalize import Normalized, judge_turn
from butlerctl.protocol.observation import Observation
from butlerctl.protocol.registry import Registry
from butlerctl.protocol.wires.access import id_of, name_of
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of


def read_calls(document: Any, registry: Registry) -> Normalized:
    """Calls from `[{id?, name, args}, …]`, or from what `protocol normalize` prints. Raises BadInput.

    `args` (or `arguments`) is an object or JSON text. The calls are judged as if a model had made them.
    """
    entries = document.get("calls") if isinstance(document, dict) else document
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput("a file of calls must hold a JSON list of {id, name, args}")
    return judge_turn(WireTurn([_wire_call(entry) for entry in entries]), registry, "native")


def replay(calls: Normalized, registry: Registry, answers: Any) -> tuple[Observation, ...]:
    """One observation for each call. `answers` maps an id or a tool's name to what the tool answers.

    Raises BadInput for a good call that has no answer.
    """
    if not isinstance(answers, Mapping):
        raise BadInput(
            "a file of results must hold a JSON object: a tool's name or a call's id -> its answer"
        )
    observations = []
    for call in calls.items:
        tool = registry.get(call.name)
        if isinstance(call, Call) and tool is not None:
            answer = _answer(call, answers)
            tool.function = lambda answer=answer, **_: answer
        observations.append(dispatch(call, registry))
    return tuple(observations)


def _wire_call(entry: Mapping[str, Any]) -> WireCall:
    arguments = entry["args"] if "args" in entry else entry.get("arguments")
    return WireCall(name_of(entry.get("name")), id_of(entry.get("id")), arguments_of(arguments))


def _answer(call: Call, answers: Mapping[str, Any]) -> Any:
    for key in (call.id, call.name):
        if key in answers:
            return answers[key]
    raise BadInput(f"the results have no answer for the call {call.id} of {call.name}")
