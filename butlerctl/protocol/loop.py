"""The loop of function calling: ask, dispatch every call, append every observation, ask again.

The loop ends when the model answers without a call, or when a budget is used up. A failed completion is asked
for again as a whole; what it held is not executed, so a repeated question never repeats a write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal

from butlerctl.errors import BadDocument
from butlerctl.protocol.budget import Budget, Spent
from butlerctl.protocol.call import Call, RejectedCall
from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.dispatch import Watch, dispatch_all
from butlerctl.protocol.normalize import Normalized, normalize
from butlerctl.protocol.observation import Observation
from butlerctl.protocol.provider import Completion, Message, Provider
from butlerctl.protocol.registry import Registry
from butlerctl.protocol.wires.openai_chat import result as tool_message

Stop = Literal["answered", "cut_off", "no_completion", "provider_error", "over_budget", "cancelled"]

_MOST_RETRY_AFTER = 30.0
# What providers accept as a name in the history of a conversation.
_SENDABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that happened on one request to the agent.

    `messages`: the whole conversation in OpenAI chat form, with the raw text of arguments. `reply`: the model's
    last words, "" without any. `completions`: each HTTP exchange with the provider, redacted, also the failed ones.
    `stop`: why the loop ended; `limit` names the budget of an `over_budget`. `usage`: sums of what was reported.
    """

    messages: tuple[Message, ...]
    reply: str
    calls: tuple[Call | RejectedCall, ...]
    observations: tuple[Observation, ...]
    completions: tuple[dict[str, Any], ...]
    leaks: tuple[str, ...]
    notes: tuple[str, ...]
    usage: Mapping[str, float]
    stop: Stop
    limit: str | None = None

    @property
    def errors(self) -> tuple[str, ...]:
        """The code of every call that was not run, in order."""
        return tuple(call.code for call in self.calls if isinstance(call, RejectedCall))


def run_turn(
    provider: Provider,
    registry: Registry,
    messages: Sequence[Message],
    *,
    budget: Budget | None = None,
    workers: int = 1,
    cancel: Event | None = None,
    watch: Watch | None = None,
) -> Turn:
    """Run one request to its end. Never raises for what the model, the provider or a tool does.

    `workers`: how many calls of one turn may run at the same time. `cancel`: once set, nothing more is started.
    `watch` is told of each call that runs, while it runs.
    """
    return _Loop(provider, registry, messages, budget or Budget(), workers, cancel or Event(), watch).run()


@dataclass(slots=True)
class _Loop:
    provider: Provider
    registry: Registry
    given: Sequence[Message]
    budget: Budget
    workers: int
    cancel: Event
    watch: Watch | None = None
    record: list[Message] = field(default_factory=list)  # as the model wrote it
    history: list[Message] = field(default_factory=list)  # as it can be sent back
    calls: list[Call | RejectedCall] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    leaks: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    reply: str = ""

    def run(self) -> Turn:
        self.record = list(self.given)
        self.history = list(self.given)
        spent = Spent(self.budget)
        while True:
            if self.cancel.is_set():
                return self._turn("cancelled")
            if limit := spent.exhausted():
                return self._turn("over_budget", limit)
            if stop := self._step(spent):
                return self._turn(stop)

    def _step(self, spent: Spent) -> Stop | None:
        """One question and the dispatch of what came back. A reason to stop, or None to go on."""
        completion = self._ask(spent)
        spent.turns += 1
        spent.tokens = int(_usage(self.completions).get("total_tokens", 0))
        if completion is None:
            return "cancelled" if self.cancel.is_set() else "provider_error"
        try:
            turn = normalize(
                self.provider.adapter,
                completion.payload,
                self.registry,
                taken_ids={call.id for call in self.calls},
            )
        except BadDocument:
            return "no_completion"
        self.leaks.update(dict.fromkeys(turn.leaks))
        self.notes.update(dict.fromkeys(turn.notes))
        if "no_completion" in turn.notes:
            return "no_completion"
        self.record.append(_assistant_message(turn, sendable=False))
        self.history.append(_assistant_message(turn, sendable=True))
        if not turn.items:
            self.reply = turn.text
            return "cut_off" if turn.cut_off else "answered"
        self._dispatch(turn, spent)
        return None

    def _dispatch(self, turn: Normalized, spent: Spent) -> None:
        observations = dispatch_all(
            turn.items,
            self.registry,
            workers=self.workers,
            may_start=spent.calls_left,
            cancel=self.cancel,
            watch=self.watch,
        )
        spent.calls += len(turn.items)
        self.calls += turn.items
        self.observations += observations
        answers = [tool_message(observation) for observation in observations]
        self.record += answers
        self.history += answers

    def _ask(self, spent: Spent) -> Completion | None:
        """One usable completion, or None. Asks again after 429, 5xx and lost connections."""
        delay = self.budget.retry_delay
        for attempt in range(1, self.budget.attempts + 1):
            completion = self.provider.complete(
                self.history, self.registry.schemas, seconds=spent.seconds_left
            )
            self.completions.append(completion)
            failure = _failure(completion)
            if failure is None:
                return completion
            pause = max(delay, _retry_after(completion))
            last = attempt == self.budget.attempts or not _is_passing(failure)
            if last or pause >= spent.seconds_left or self.cancel.wait(pause):
                return None
            delay *= 2
        return None

    def _turn(self, stop: Stop, limit: str | None = None) -> Turn:
        return Turn(
            messages=tuple(self.record),
            reply=self.reply,
            calls=tuple(self.calls),
            observations=tuple(self.observations),
            completions=tuple(completion.evidence() for completion in self.completions),
            leaks=tuple(self.leaks),
            notes=tuple(self.notes),
            usage=_usage(self.completions),
            stop=stop,
            limit=limit,
        )


def _assistant_message(turn: Normalized, *, sendable: bool) -> Message:
    """The model's message for the record, or in a form that a strict provider takes back."""
    message: Message = {"role": "assistant", "content": turn.text or None, **turn.echo}
    if turn.items:
        message["tool_calls"] = [_tool_call(item, sendable=sendable) for item in turn.items]
    return message


def _tool_call(item: Call | RejectedCall, *, sendable: bool) -> dict[str, Any]:
    name, arguments = item.name, item.raw_args
    if sendable and not _SENDABLE_NAME.fullmatch(name):
        name = "invalid_name"
    if sendable and not _is_object_text(arguments):
        arguments = "{}"
    return {"id": item.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _is_object_text(text: str) -> bool:
    try:
        return isinstance(decode(text), dict)
    except NotStrictJson:
        return False


def _failure(completion: Completion) -> int | None:
    """The status of a completion that cannot be used (0: none arrived), or None for a usable one."""
    if completion.error or completion.http_status is None:
        return 0
    if completion.http_status != 200:
        return completion.http_status
    return _status_inside(completion.payload)


def _status_inside(payload: Any) -> int | None:
    """The status of an error that came with HTTP 200, alone or in mid-stream."""
    for part in payload if isinstance(payload, list) else [payload]:
        if isinstance(part, dict) and part.get("error"):
            error = part["error"]
            code = error.get("code") if isinstance(error, dict) else None
            return code if isinstance(code, int) else 500
    return None


def _is_passing(status: int) -> bool:
    return status in (0, 408, 429) or status >= 500


def _retry_after(completion: Completion) -> float:
    """Seconds that the provider asks to wait. Dates and nonsense count as none."""
    try:
        return min(_MOST_RETRY_AFTER, max(0.0, float(completion.headers.get("retry-after", "0"))))
    except ValueError:
        return 0.0


def _usage(completions: Sequence[Completion]) -> dict[str, float]:
    """Token counts and cost, summed over the completions that reported them."""
    total: dict[str, float] = {"requests": len(completions)}
    for completion in completions:
        for key, value in _reported_usage(completion.payload).items():
            total[key] = total.get(key, 0) + value
    return total


def _reported_usage(payload: Any) -> dict[str, float]:
    parts = payload if isinstance(payload, list) else [payload]
    reports = [
        part["usage"] for part in parts if isinstance(part, dict) and isinstance(part.get("usage"), dict)
    ]
    last = reports[-1] if reports else {}
    keys = ("prompt_tokens", "completion_tokens", "total_tokens", "cost")
    return {key: last[key] for key in keys if _is_amount(last.get(key))}


def _is_amount(value: Any) -> bool:
    """A number that can be summed: NaN and absurd sizes are no report."""
    return isinstance(value, int | float) and 0 <= value < 1e15
