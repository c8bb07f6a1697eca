"""The one reading question of a gateway check, the call that answers it, and what a turn made of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butlerctl.gateway.operator import Run
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.protocol.decode import NotStrictJson, decode

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """A read, in words. `arguments` are what its call must have; it may have further ones."""

    route: Route
    words: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RealTurn:
    """One turn with the real model: the question, the gateway's account, the transcript.

    `given` is what the model was given: each tool's name and the hash of its schema.
    """

    question: Question
    run: Run
    messages: Messages
    given: Mapping[str, str]


def questions(inventory: Inventory) -> tuple[Question, ...]:
    """One for each read route of the household."""
    return tuple(
        _question(inventory, route) for route in inventory.routes if not OPERATIONS[route.operation].writes
    )


def turn_fault(turn: RealTurn) -> str:
    """Why this turn does not prove the agent: it takes exactly the one call that was asked for, and its result."""
    run, question = turn.run, turn.question
    if "transport" in run.meta:
        return f"the turn ran over {run.meta['transport']}, not in this gateway"
    if run.error is not None or run.status != "ok":
        return f"a real turn ended as {run.status}: {(run.error or {}).get('message', '')}".rstrip(": ")
    calls = [call for message in turn.messages for call in message.get("tool_calls") or ()]
    if not calls:
        return f"the model answered a request for {question.tool} without calling it"
    if len(calls) > 1:
        names = ", ".join(str(call["function"]["name"]) for call in calls)
        return f"the model made {len(calls)} calls where one was asked for: {names}"
    return _call_fault(calls[0], question) or _result_fault(calls[0], turn.messages)


def _question(inventory: Inventory, route: Route) -> Question:
    person = route.profile
    arguments: dict[str, Any] = {"profile": person, "limit": 1}
    words = {
        "calendar_list": f"List at most 1 calendar event of {person}.",
        "tasks_list": f"List at most 1 open task of {person}.",
    }
    if route.operation == "sheets_read":
        arguments["sheet"] = tab = inventory.profiles[person].spreadsheet.verify_tab
        words["sheets_read"] = f"Read at most 1 row of the sheet {tab} of {person}."
    return Question(route, words[route.operation], OPERATIONS[route.operation].tool, arguments)


def _call_fault(call: Mapping[str, Any], question: Question) -> str:
    function = call["function"]
    if function["name"] != question.tool:
        return f"the model called {function['name']} where {question.tool} was asked for"
    try:
        arguments = decode(function["arguments"])
    except NotStrictJson as problem:
        return f"the model's arguments are no JSON: {problem}"
    found = arguments if isinstance(arguments, Mapping) else {}
    wrong = [name for name, value in question.arguments.items() if _text(found.get(name)) != _text(value)]
    told = "; ".join(
        f"{name} {_text(question.arguments[name])}, called with {_text(found.get(name))}" for name in wrong
    )
    return f"the model was asked for {told}" if wrong else ""


def _result_fault(call: Mapping[str, Any], messages: Messages) -> str:
    tool = call["function"]["name"]
    results = [message for message in messages if message.get("role") == "tool"]
    own = [message for message in results if message.get("tool_call_id") == call.get("id")]
    if len(own) != 1 or len(results) != 1:
        return f"{tool} was called once, and {len(own)} of {len(results)} results are that call's"
    return f"{tool} failed in a real turn" if own[0].get("is_error") else ""


def _text(value: Any) -> str:
    """Values of different types are different: true is not 1, and "1" is not 1."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
