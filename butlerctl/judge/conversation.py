"""A transcript as the judge reads it: the calls of the turn with their results, the last words, what was offered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from butlerctl.evidence import Document
from butlerctl.judge.executed import Change, changes
from butlerctl.protocol.decode import NotStrictJson, decode

if TYPE_CHECKING:
    from butlerctl.judge.wire import Wire


@dataclass(frozen=True, slots=True)
class Call:
    """A structured call. `arguments` is None when the text is not one complete JSON object.

    `executed` is what the gateway ran, None where it does not tell; `changes` is where that is not what the model
    wrote. `result` is the observation that reached the model under the call's id, None when there was none.
    `reported`: the call is known from the gateway's events alone.
    """

    id: str
    name: str
    raw: str
    arguments: Mapping[str, Any] | None
    result: str | None = None
    failed: bool = False
    executed: Mapping[str, Any] | None = None
    changes: tuple[Change, ...] = ()
    reported: bool = False

    @property
    def ran(self) -> Mapping[str, Any] | None:
        """The arguments that count for everything behind the call."""
        return self.arguments if self.executed is None else self.executed

    @property
    def unsound(self) -> bool:
        """Did the gateway run something that the model did not write?"""
        return bool(self.changes) or (self.arguments is None and self.executed is not None)


@dataclass(frozen=True, slots=True)
class MadeUp:
    """A call that the model did not make so. `written`: the name under which it did; empty where it made none."""

    call: Call
    written: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One recording of the turn. `complete` False: it may have stopped, so it cannot prove an absence.

    `answers` is how often the assistant spoke. `wire` is what was recorded of the provider's own answers; the calls
    that it disproves are in `made`, not in `calls`: the gateway made them itself.
    """

    document: Document
    calls: tuple[Call, ...]
    reply: str
    texts: tuple[str, ...]
    prompts: tuple[str, ...]
    offered: tuple[str, ...] | None
    complete: bool
    orphans: tuple[str, ...]
    provider_error: str
    answers: int
    made: tuple[MadeUp, ...] = ()
    wire: Wire | None = None


def read_conversation(document: Document, prompt: str = "") -> Conversation:
    """The turn of a transcript: from the user's message with this prompt on, or all of it without one."""
    everything = [item for item in _list(document.get("messages")) if isinstance(item, Mapping)]
    messages = everything[_start_of_turn(everything, prompt) :]
    assistant = [message for message in messages if message.get("role") == "assistant"]
    texts = tuple(content_text(message) for message in assistant)
    wire = _arguments_on_the_wire(_list(document.get("completions")))
    calls = tuple(_calls(assistant, _results(messages), wire))
    offered = document.get("tools_offered")
    return Conversation(
        document=document,
        calls=calls,
        reply=_reply(messages),
        texts=tuple(text for text in texts if text),
        prompts=tuple(content_text(item) for item in everything if item.get("role") == "user"),
        offered=tuple(str(name) for name in offered) if isinstance(offered, list) else None,
        complete=document.get("complete") is not False,
        orphans=_orphans(everything),
        provider_error=_provider_error(_list(document.get("completions"))) or _failed_row(assistant),
        answers=len(assistant),
    )


def content_text(message: Mapping[str, Any]) -> str:
    """The visible text of a message, whose content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    parts = [part.get("text") for part in _list(content) if isinstance(part, Mapping)]
    return "\n".join(part for part in parts if isinstance(part, str)).strip()


def holds_prompt(spoken: str, prompt: str) -> bool:
    """Was this asked? A gateway may add a time or a name around the words, and change blanks."""
    return bool(prompt) and _squeeze(prompt) in _squeeze(spoken)


def _start_of_turn(messages: Sequence[Mapping[str, Any]], prompt: str) -> int:
    for index, message in enumerate(messages):
        if message.get("role") == "user" and holds_prompt(content_text(message), prompt):
            return index
    return 0


def _reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """The text of the last message, when the assistant spoke last."""
    spoken = [message for message in messages if str(message.get("role")) in {"assistant", "tool", "user"}]
    return content_text(spoken[-1]) if spoken and spoken[-1].get("role") == "assistant" else ""


def _calls(
    assistant: Iterable[Mapping[str, Any]], results: Mapping[str, Mapping[str, Any]], wire: Mapping[str, Any]
) -> Iterable[Call]:
    for message in assistant:
        for item in _list(message.get("tool_calls")):
            function = item.get("function") if isinstance(item, Mapping) else None
            if not isinstance(function, Mapping):
                continue
            call_id, name = str(item.get("id") or ""), function.get("name")
            raw = wire.get(call_id, function.get("arguments"))
            result, executed = results.get(call_id), item.get("executed_arguments")
            yield Call(
                id=call_id,
                name=name if isinstance(name, str) else "",
                raw=raw if isinstance(raw, str) else "",
                arguments=_arguments(raw),
                result=content_text(result) if result is not None else None,
                failed=result is not None and result.get("is_error") is True,
                executed=executed if isinstance(executed, Mapping) else None,
                changes=changes(raw or "", executed) if "executed_arguments" in item else (),
                reported=message.get("source") == "event",
            )


def _arguments_on_the_wire(completions: Sequence[Any]) -> dict[str, Any]:
    """The arguments as the model sent them, by the id of the call: a gateway may have repaired what it recorded."""
    found: dict[str, Any] = {}
    for completion in completions:
        message = _first_choice(completion.get("body") if isinstance(completion, Mapping) else None).get(
            "message"
        )
        for item in _list(message.get("tool_calls")) if isinstance(message, Mapping) else []:
            function = item.get("function") if isinstance(item, Mapping) else None
            if isinstance(function, Mapping) and item.get("id"):
                found[str(item["id"])] = function.get("arguments")
    return found


def _arguments(raw: Any) -> Mapping[str, Any] | None:
    if isinstance(raw, Mapping):
        return raw
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    try:
        value = decode(raw) if isinstance(raw, str) else None
    except NotStrictJson:
        return None
    return value if isinstance(value, dict) else None


def _results(messages: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {str(item.get("tool_call_id") or ""): item for item in messages if item.get("role") == "tool"}


def _orphans(messages: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of results whose call is nowhere in the recording."""
    made = {
        str(item.get("id") or "")
        for message in messages
        for item in _list(message.get("tool_calls"))
        if isinstance(item, Mapping)
    }
    return tuple(
        str(message.get("name") or message.get("tool_call_id") or "")
        for message in messages
        if message.get("role") == "tool" and str(message.get("tool_call_id") or "") not in made
    )


def _provider_error(completions: Sequence[Any]) -> str:
    """What the last completion says went wrong with the model call itself; empty when it went well."""
    last = completions[-1] if completions and isinstance(completions[-1], Mapping) else {}
    status, body = last.get("http_status"), last.get("body")
    error = body.get("error") if isinstance(body, Mapping) else None
    if error:
        message = error.get("message") if isinstance(error, Mapping) else error
        return f"HTTP {status}: {message}" if status else str(message)
    if isinstance(status, int) and status >= 400:
        return f"HTTP {status}"
    if isinstance(body, Mapping) and "choices" in body and not body["choices"]:
        return f"HTTP {status} without a choice"
    finish = str(_first_choice(body).get("finish_reason"))
    return f"the model call ended with {finish}" if finish in {"error", "content_filter"} else ""


def _failed_row(assistant: Sequence[Mapping[str, Any]]) -> str:
    """A gateway's row for a model call that failed."""
    error = assistant[-1].get("error") if assistant else None
    return str(error) if error else ""


def _first_choice(body: Any) -> Mapping[str, Any]:
    """Only choice 0 is the turn."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _squeeze(text: str) -> str:
    return " ".join(text.casefold().split())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
