"""The model itself: from the messages and tools of a request to a call, a question or a report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from butlerctl.inventory.operations import OPERATION_OF_TOOL, Route
from butlerctl.lab.model.household import Household, household_of, text_of
from butlerctl.lab.model.report import Result, Speaker, decode_answer
from butlerctl.lab.model.understand import Unclear, Wanted, understand
from butlerctl.lab.model.words import language_of

Message = Mapping[str, Any]

# Some gateways put the time in brackets before what the person said.
_STAMP = re.compile(r"^\[[^\]\n]*\d{4}-\d{2}-\d{2}[^\]\n]*\]\s*")
# OpenClaw names the job before a scheduled message, and the time behind it.
_JOB = re.compile(r"^\[cron:[^\]\n]*\]\s*|\nCurrent time: [^\n]*\nReference UTC: [^\n]*$")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says and calls. `calls` are names with the raw text of their arguments."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the conversation stands: what was asked, and what the tools answered since."""

    speaker: Speaker
    wanted: Wanted | Unclear | None
    results: tuple[Result, ...]

    @property
    def household(self) -> Household:
        return self.speaker.household

    @property
    def route(self) -> Route | None:
        """What the request is about, as far as it was understood."""
        if not isinstance(self.wanted, Wanted):
            return None
        return Route(OPERATION_OF_TOOL[self.wanted.tool].name, str(self.wanted.arguments["profile"]))

    def answer(self) -> Answer:
        """The honest answer."""
        if self.results:
            return Answer("\n".join(self.speaker.report(self._told(result)) for result in self.results))
        if isinstance(self.wanted, Wanted):
            return calling(self.wanted)
        if isinstance(self.wanted, Unclear):
            return Answer(self.speaker.question(self.wanted))
        return Answer(self.speaker.say("chat"))

    def _told(self, result: Result) -> Result:
        """The result of a call whose arguments nobody can read is about what was wanted."""
        if result.arguments or not isinstance(self.wanted, Wanted):
            return result
        return replace(result, arguments=self.wanted.arguments)


def calling(*wanted: Wanted) -> Answer:
    calls = tuple((call.tool, json.dumps(dict(call.arguments), ensure_ascii=False)) for call in wanted)
    return Answer(calls=calls, finish_reason="tool_calls")


def read_situation(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Situation:
    """What a request of the Chat Completions API asks of the model."""
    household = household_of(messages, tools)
    last = max((n for n, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    text = _asked(messages, last)
    speaker = Speaker(language_of(text), household)
    return Situation(speaker, understand(text, household), _results(messages[last + 1 :]))


def _asked(messages: Sequence[Message], last: int) -> str:
    """The last thing the person said; with what they had said before, when it answers a question of the model."""
    if last < 0:
        return ""
    text = _STAMP.sub("", _JOB.sub("", text_of(messages[last])))
    before = messages[last - 1] if last else {}
    if before.get("role") == "assistant" and not before.get("tool_calls") and "?" in text_of(before):
        earlier = max((n for n in range(last) if messages[n].get("role") == "user"), default=-1)
        return f"{_asked(messages, earlier)}\n{text}"
    return text


def _results(messages: Sequence[Message]) -> tuple[Result, ...]:
    """The tools' answers since the last request, each with its call. An answer to no call counts as well."""
    calls: dict[str, Mapping[str, Any]] = {}
    results = []
    for message in messages:
        calls |= {str(call.get("id")): call.get("function") or {} for call in message.get("tool_calls") or ()}
        if message.get("role") == "tool":
            function = calls.get(str(message.get("tool_call_id")), {})
            arguments = decode_answer(str(function.get("arguments", "")))
            known = arguments if isinstance(arguments, dict) else {}
            results.append(Result(str(function.get("name", "")), known, decode_answer(text_of(message))))
    return tuple(results)
