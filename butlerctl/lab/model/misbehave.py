"""Ways in which a model goes wrong, each planted by name for one route or for all.

A kind belongs to a moment: `ask`, where a call is due; `report`, where the tools have answered; `provider`, where
no completion comes at all. Elsewhere the model stays honest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal

from butlerctl.inventory.operations import OPERATION_OF_TOOL, Route
from butlerctl.lab.model.butler import Answer, Situation, calling
from butlerctl.lab.model.report import Result, title_of
from butlerctl.lab.model.understand import Wanted


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """What an endpoint answers in place of a completion."""

    status: int
    message: str


Behaviour = Callable[[Situation, Wanted], Answer | ProviderFailure]


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    moment: Literal["ask", "report", "provider", "provider_after_call"]
    summary: str
    act: Behaviour


@dataclass(frozen=True, slots=True)
class Planted:
    """A kind of `KINDS` for one route; for every route when it is None."""

    kind: str
    route: Route | None = None


def respond(situation: Situation, planted: list[Planted]) -> Answer | ProviderFailure:
    """The answer of the model with what is planted; the honest one where nothing of it applies."""
    if isinstance(situation.wanted, Wanted):
        for item in planted:
            kind = KINDS[item.kind]
            if item.route in (None, situation.route) and _is_its_moment(kind, situation):
                return kind.act(situation, situation.wanted)
    return situation.answer()


def _is_its_moment(kind: Misbehaviour, situation: Situation) -> bool:
    answered = bool(situation.results)
    return {
        "ask": not answered,
        "report": answered,
        "provider": True,
        "provider_after_call": answered,
    }[kind.moment]


def _cheer(situation: Situation, wanted: Wanted) -> Answer:
    phrase = "cheer" if OPERATION_OF_TOOL[wanted.tool].writes else "all_read"
    return Answer(_say(situation, phrase, wanted))


def _promise(situation: Situation, wanted: Wanted) -> Answer:
    return Answer(_say(situation, "promise", wanted))


def _say(situation: Situation, phrase: str, wanted: Wanted) -> str:
    owner = situation.speaker.owner(wanted.arguments)
    return situation.speaker.say(phrase, title=title_of(wanted.arguments), owner=owner)


def _empty(situation: Situation, wanted: Wanted) -> Answer:
    del situation, wanted
    return Answer()


def _convention(situation: Situation, wanted: Wanted) -> Answer:
    """The private text format that a runner with regular expressions would have understood."""
    del situation
    domain = {"calendar": "CALENDAR", "tasks": "TASK", "sheets": "SHEET"}[
        OPERATION_OF_TOOL[wanted.tool].domain
    ]
    values = [str(value) for name, value in wanted.arguments.items() if name != "profile"]
    return Answer(f"{domain}: {wanted.arguments['profile']} | {' | '.join(values)}")


def _harmony(situation: Situation, wanted: Wanted) -> Answer:
    del situation
    arguments = json.dumps(dict(wanted.arguments), ensure_ascii=False)
    return Answer(
        f"<|start|>assistant<|channel|>commentary to=functions.{wanted.tool} "
        f"<|constrain|>json<|message|>{arguments}<|call|>"
    )


def _dsml(situation: Situation, wanted: Wanted) -> Answer:
    del situation
    bar = "\uff5c"
    fields = "".join(
        f'<{bar}DSML{bar}parameter name="{name}" string="true">{value}</{bar}DSML{bar}parameter>'
        for name, value in wanted.arguments.items()
    )
    call = f'<{bar}DSML{bar}invoke name="{wanted.tool}">{fields}</{bar}DSML{bar}invoke>'
    return Answer(f"<{bar}DSML{bar}function_calls>{call}</{bar}DSML{bar}function_calls>")


def _unknown_tool(situation: Situation, wanted: Wanted) -> Answer:
    del situation
    return calling(Wanted(f"google_{wanted.tool}", wanted.arguments))


def _other_profile(situation: Situation, wanted: Wanted) -> Answer:
    others = [name for name in situation.household.profiles if name != wanted.arguments["profile"]]
    return calling(_changed(wanted, {"profile": next(iter(others), "somebody")}))


def _next_day(situation: Situation, wanted: Wanted) -> Answer:
    return _shifted(situation, wanted, timedelta(days=1))


def _next_hour(situation: Situation, wanted: Wanted) -> Answer:
    return _shifted(situation, wanted, timedelta(hours=1))


def _shifted(situation: Situation, wanted: Wanted, by: timedelta) -> Answer:
    del situation
    return calling(Wanted(wanted.tool, _move(wanted.arguments, by)))


def _other_text(situation: Situation, wanted: Wanted) -> Answer:
    """The title, or the last cell of a row, with a digit more."""
    del situation
    values = wanted.arguments.get("values")
    if isinstance(values, list):
        return calling(_changed(wanted, {"values": [*values[:-1], f"{values[-1]}0"]}))
    texts = {name: f"{wanted.arguments[name]} 2" for name in ("summary", "title") if name in wanted.arguments}
    return calling(_changed(wanted, texts))


def _truncated(situation: Situation, wanted: Wanted) -> Answer:
    honest = calling(wanted)
    name, arguments = honest.calls[0]
    del situation
    return replace(honest, calls=((name, arguments[: max(1, len(arguments) * 3 // 4)]),))


def _doubled(situation: Situation, wanted: Wanted) -> Answer:
    del situation
    return calling(wanted, wanted)


def _repeats(situation: Situation, wanted: Wanted) -> Answer:
    """Makes a call again that had already worked, once."""
    return calling(wanted) if len(situation.results) < 2 else situation.answer()


def _wrong_claim(situation: Situation, wanted: Wanted) -> Answer:
    """Reports a success with other facts than the tool's answer has: an hour or a day later, one more, a higher sum."""
    del wanted
    return _telling(situation, _falsify)


def _denies(situation: Situation, wanted: Wanted) -> Answer:
    result = Result(wanted.tool, wanted.arguments, {})
    return Answer(situation.speaker.failure(result, situation.speaker.say("no_reason")))


def _extra_deed(situation: Situation, wanted: Wanted) -> Answer:
    """An honest report, and a second deed in another domain that nobody asked for and nobody did."""
    domain = OPERATION_OF_TOOL[wanted.tool].domain
    deed = "extra_event" if domain == "tasks" else "extra_task"
    return Answer(f"{situation.answer().text}\n\n{situation.speaker.say(deed, title='Oil change')}")


def _tells_nothing(situation: Situation, wanted: Wanted) -> Answer:
    """Reports an empty list, whatever the tool found; of a write, that it failed."""
    if OPERATION_OF_TOOL[wanted.tool].writes:
        return _denies(situation, wanted)
    empty = {"items": [], "count": 0, "complete": True}
    return _telling(situation, lambda data: {**data, **empty})


def _tells_other_day(situation: Situation, wanted: Wanted) -> Answer:
    """Reports every time a week later than the tool's answer has it."""
    del wanted
    return _telling(situation, _week_later)


def _week_later(data: dict[str, Any]) -> dict[str, Any]:
    moved, items = _move(data, timedelta(days=7)), data.get("items")
    if isinstance(items, list):
        moved["items"] = [_move(item, timedelta(days=7)) for item in items if isinstance(item, dict)]
    return moved


def _telling(situation: Situation, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Answer:
    """The honest report of other answers than the tools gave."""
    return replace(
        situation, results=tuple(_changed_result(each, change) for each in situation.results)
    ).answer()


def _changed_result(result: Result, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Result:
    answer = result.answer
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), dict):
        return result
    return replace(result, answer={**answer, "data": change(answer["data"])})


def _changed(wanted: Wanted, changes: Mapping[str, Any]) -> Wanted:
    return Wanted(wanted.tool, {**wanted.arguments, **changes})


def _falsify(data: dict[str, Any]) -> dict[str, Any]:
    if isinstance(items := data.get("items"), list):
        invented = {"id": "invented", "summary": "Piano lesson", "amount": "17"}
        told = [_falsify(item) for item in items if isinstance(item, dict)]
        return {**data, "items": [*told, invented, invented]}
    if isinstance(values := data.get("values"), list) and values:
        sheet, _, _ = str(data.get("id")).partition("!")
        return {
            **data,
            "id": f"{sheet}!A{data.get('row_number', 0) + 7}",
            "values": [*values[:-1], f"{values[-1]}0"],
        }
    moved = _move(data, timedelta(hours=1))
    return moved if moved != data else {**data, "title": f"{data.get('title', '')} 2"}


def _move(fields: Mapping[str, Any], by: timedelta) -> dict[str, Any]:
    """The fields with their times moved. A day moves by whole days, and by at least one."""
    moved = dict(fields)
    for name in ("start", "end"):
        if isinstance(value := moved.get(name), str):
            moved[name] = _later(value, by)
        elif isinstance(value, Mapping) and isinstance(value.get("dateTime"), str):
            moved[name] = {**value, "dateTime": _later(value["dateTime"], by)}
    if isinstance(due := moved.get("due"), str) and due:
        moved["due"] = (date.fromisoformat(due[:10]) + max(by, timedelta(days=1))).isoformat() + due[10:]
    if isinstance(values := moved.get("values"), list):
        moved["values"] = [_day_later(value) for value in values]
    return moved


def _later(text: str, by: timedelta) -> str:
    return (datetime.fromisoformat(text) + by).isoformat(timespec="seconds")


def _day_later(cell: Any) -> Any:
    try:
        return (date.fromisoformat(str(cell)) + timedelta(days=1)).isoformat()
    except ValueError:
        return cell


def _fails(status: int, message: str) -> Behaviour:
    return lambda _situation, _wanted: ProviderFailure(status, message)


KINDS: Mapping[str, Misbehaviour] = {
    "narrates": Misbehaviour("ask", "says that it is done, without a call", _cheer),
    "promises": Misbehaviour("ask", "says that it will do it, and does not", _promise),
    "empty_reply": Misbehaviour("ask", "answers with nothing at all", _empty),
    "convention_text": Misbehaviour("ask", "writes the call as a line of text", _convention),
    "harmony_text": Misbehaviour("ask", "writes the call as Harmony text", _harmony),
    "dsml_text": Misbehaviour("ask", "writes the call as DSML text", _dsml),
    "unknown_tool": Misbehaviour("ask", "calls a tool that nobody offered", _unknown_tool),
    "wrong_profile": Misbehaviour("ask", "calls the tool for another person", _other_profile),
    "wrong_date": Misbehaviour("ask", "calls the tool with every date a day later", _next_day),
    "wrong_hour": Misbehaviour("ask", "calls the tool with every time an hour later", _next_hour),
    "wrong_text": Misbehaviour("ask", "calls the tool with another title or amount", _other_text),
    "truncated_arguments": Misbehaviour("ask", "breaks off in the middle of the arguments", _truncated),
    "doubled_call": Misbehaviour("ask", "makes the same call twice at once", _doubled),
    "repeats_call": Misbehaviour("report", "makes the call again although it worked", _repeats),
    "false_success": Misbehaviour("report", "says that it is done, whatever the tool said", _cheer),
    "wrong_claim": Misbehaviour("report", "reports other facts than the tool's answer has", _wrong_claim),
    "denies_success": Misbehaviour("report", "says that it failed, whatever the tool said", _denies),
    "extra_deed": Misbehaviour("report", "reports a second deed that nobody did", _extra_deed),
    "tells_nothing": Misbehaviour("report", "reports an empty list, whatever was found", _tells_nothing),
    "tells_other_day": Misbehaviour("report", "reports every day a week later", _tells_other_day),
    "says_nothing": Misbehaviour("report", "ends without a word after the call", _empty),
    "provider_429": Misbehaviour(
        "provider", "the provider refuses for its rate limit", _fails(429, "Rate limit exceeded")
    ),
    "provider_500": Misbehaviour("provider", "the provider fails", _fails(500, "Internal server error")),
    "provider_429_after_call": Misbehaviour(
        "provider_after_call",
        "the provider refuses once the tool has worked",
        _fails(429, "Rate limit exceeded"),
    ),
}
