"""One operation of the turn with all its evidence. Links look at a Case and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import cached_property
from typing import Any

from butlerctl.evidence import Bundle, Document
from butlerctl.inventory.operations import OPERATIONS, Operation, Route
from butlerctl.judge import payload, routes
from butlerctl.judge.answer import Answer, Kind
from butlerctl.judge.asked import Asked, asked_of
from butlerctl.judge.conversation import Call, Conversation
from butlerctl.judge.effect import Effect
from butlerctl.judge.execution import Execution
from butlerctl.judge.listed import effect_of_read
from butlerctl.judge.readback import Reading
from butlerctl.judge.requests import request_of
from butlerctl.judge.routes import Address
from butlerctl.judge.values import texts_in
from butlerctl.judge.written import effect_of_write

_EXECUTION_ID = re.compile(r'\\?"execution(?:Id)?\\?"\s*:\s*\\?"?([\w-]+)')


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request for the operation: the call that asked for it, the answer, and what was sent where."""

    answer: Answer | None
    call: Call | None = None
    exchange: Document | None = None

    @property
    def address(self) -> Address | None:
        if self.exchange is not None:
            return routes.address_of(request_of(self.exchange).get("url"))
        told = _told_path(self.call.result) if self.call else ""
        return routes.address_of(told) if told else None


@dataclass(frozen=True)
class Case:
    """One operation of the turn. `right` are the calls with the asked arguments; `main` is what the intent asked."""

    bundle: Bundle
    route: Route
    asked: Mapping[str, Any]
    main: bool
    conversation: Conversation | None
    calls: tuple[Call, ...] = ()
    right: tuple[Call, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    received: tuple[Document, ...] = ()
    executions: tuple[Execution, ...] = ()
    probes: tuple[Document, ...] = ()
    live: tuple[Document, ...] = ()
    exports: tuple[Document, ...] = ()
    readings: tuple[Reading, ...] = ()
    others: tuple[Document, ...] = ()

    @property
    def operation(self) -> Operation:
        return OPERATIONS[self.route.operation]

    @property
    def zone(self) -> tzinfo:
        return self.bundle.zone

    @property
    def noun(self) -> str:
        return {"calendar": "event", "tasks": "task", "sheets": "row"}[self.operation.domain]

    @cached_property
    def wanted(self) -> Asked:
        return asked_of(self.asked, self.zone)

    @property
    def last(self) -> Attempt | None:
        """The attempt that counts."""
        return self.attempts[-1] if self.attempts else None

    @property
    def answer(self) -> Answer | None:
        return self.last.answer if self.last else None

    @cached_property
    def good(self) -> tuple[Attempt, ...]:
        """Attempts whose answer is usable."""
        return tuple(attempt for attempt in self.attempts if self.usable(attempt.answer))

    @cached_property
    def confirmed_to_model(self) -> tuple[Attempt, ...]:
        """Good attempts of a right call whose result reached the model."""
        return tuple(
            attempt for attempt in self.good if attempt.call in self.right and attempt.call.result is not None
        )

    def usable(self, found: Answer | None) -> bool:
        """2xx, JSON, no error inside, and an id, a range or a list that answers the request."""
        if found is None or found.kind is not Kind.JSON or payload.error_inside(found.body):
            return False
        if self.operation.writes:
            return bool(payload.object_ids(found.body))
        return payload.items(found.body, self.operation.domain) is not None

    @cached_property
    def object_ids(self) -> tuple[str, ...]:
        """The first id of each good answer of a write: the object that it claims."""
        ids = (payload.object_ids(attempt.answer.body)[0] for attempt in self.good if attempt.answer)
        return tuple(dict.fromkeys(ids)) if self.operation.writes else ()

    @cached_property
    def effect(self) -> Effect:
        if self.operation.writes:
            return effect_of_write(
                self.readings, self.route.profile, self.wanted, self.object_ids, self.bundle.clock, self.zone
            )
        answered = None
        if self.good and self.good[-1].answer:
            answered = payload.items(self.good[-1].answer.body, self.operation.domain)
        return effect_of_read(self.readings, self.route, self.wanted, answered, self.bundle.clock, self.zone)

    @cached_property
    def own_execution(self) -> Execution | None:
        """The execution that is surely this request's: the answer names it, or it received what was asked."""
        words = [value for value in texts_in(self.asked) if value != self.route.profile]
        nonce = max(words, key=len, default="")
        told = {name for attempt in self.attempts for name in _execution_ids(attempt)}
        tied = [
            item for item in self.executions if str(item.document.get("id")) in told or item.carries(nonce)
        ]
        return tied[-1] if tied else None


def _told_path(result: str | None) -> str:
    try:
        value = json.loads(result or "")
    except (ValueError, RecursionError):
        return ""
    path = value.get("path") if isinstance(value, Mapping) else None
    return path if isinstance(path, str) and "/webhook" in path else ""


def _execution_ids(attempt: Attempt) -> list[str]:
    """The ids of n8n executions that an answer names."""
    told = json.dumps(attempt.answer.body) if attempt.answer else ""
    if attempt.call and attempt.call.result:
        told += attempt.call.result
    return _EXECUTION_ID.findall(told)
