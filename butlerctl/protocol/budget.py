"""How much one request to the agent may use before the loop stops asking."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one request. `seconds` is wall time; `tokens` counts what the provider reports, None: no limit.

    `attempts`: how often one completion is asked for when the provider fails, `retry_delay` seconds apart and
    doubling. Only the question to the provider is repeated, never a call that ran.
    """

    turns: int = 8
    calls: int = 24
    seconds: float = 120.0
    tokens: int | None = None
    attempts: int = 3
    retry_delay: float = 0.5


@dataclass(slots=True)
class Spent:
    """What a running request has used so far."""

    budget: Budget
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        return self.budget.seconds - (time.monotonic() - self.started)

    @property
    def calls_left(self) -> int:
        return max(0, self.budget.calls - self.calls)

    def exhausted(self) -> str | None:
        """The name of the first limit that is used up, or None."""
        budget = self.budget
        if self.seconds_left <= 0:
            return "seconds"
        if self.turns >= budget.turns:
            return "turns"
        if self.calls_left == 0:
            return "calls"
        return "tokens" if budget.tokens is not None and self.tokens >= budget.tokens else None
