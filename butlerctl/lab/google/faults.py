"""Planted faults: what one method of the emulator does wrong, before, instead of or after its work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from butlerctl.lab.google.errors import Answer, GoogleError, render

DROP = "drop"
"""As an answer of a fault: the connection is closed without one."""


@dataclass(slots=True)
class Fault:
    """One way to go wrong. The work is done `work` times (0: not at all), then `answer` is sent in its place.

    `method` is a method's id, its beginning with a star (`calendar.events.*`), or `token`.
    """

    method: str
    answer: Answer | GoogleError | str | None = None
    """None: the true answer of the work. An Answer, a GoogleError in the dialect of the API, or DROP."""
    work: int = 1
    """2 stores an object twice; the true answer is that of the last time."""
    forget: bool = False
    """Answer as if the work was done, and leave everything as it was."""
    rewrite: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Changes the body of the request before the work: another time, another title."""
    delay: float = 0.0
    """Seconds to wait before the work."""
    delay_after: float = 0.0
    """Seconds between the work and the answer."""
    times: int | None = None
    """How often it strikes; None is for ever."""
    user: str | None = None
    """Only for the requests of this user."""
    client: str | None = None
    """Only for the requests that this OAuth client makes."""
    struck: int = 0

    def meets(self, method: str, user: str | None, client: str | None = None) -> bool:
        pattern = self.method
        named = method.startswith(pattern[:-1]) if pattern.endswith("*") else method == pattern
        left = self.times is None or self.struck < self.times
        asked_by = (self.user in (None, user)) and (self.client in (None, client))
        return named and left and asked_by

    def answer_for(self, api: str) -> Answer | str | None:
        return render(api, self.answer) if isinstance(self.answer, GoogleError) else self.answer


def refuse(method: str, status: int, reason: str, message: str = "", **more: Any) -> Fault:
    """Google says no before any work: `refuse("tasks.tasks.insert", 429, "rateLimitExceeded")`."""
    return Fault(method, GoogleError(status, reason, message or reason), work=0, **more)


def page(method: str, status: int = 200, body: str = "<html>Sign in</html>", **more: Any) -> Fault:
    """A page of HTML in place of the answer; without work unless `work=1` is given."""
    answer = Answer(status, body.encode(), content_type="text/html; charset=UTF-8")
    return Fault(method, answer, **{"work": 0, **more})


@dataclass(slots=True)
class Faults:
    """The planted ones, the first that meets a request strikes."""

    _planted: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plant(self, fault: Fault) -> Fault:
        with self._lock:
            self._planted.append(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self._planted.clear()

    def strike(self, method: str, user: str | None, client: str | None = None) -> Fault | None:
        with self._lock:
            fault = next((fault for fault in self._planted if fault.meets(method, user, client)), None)
            if fault:
                fault.struck += 1
            return fault
