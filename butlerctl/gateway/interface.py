"""What butlerctl asks of an agent, whichever gateway or loop stands behind it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One request to the agent and everything that is known of it.

    `reply` is the text that was delivered, "" without any. `transcript` is an evidence document of that kind.
    `exchanges` are the plugin's own requests where butlerctl runs the tools itself, else empty. `started` has a zone.
    """

    session: str
    reply: str
    transcript: Mapping[str, Any]
    exchanges: tuple[Mapping[str, Any], ...]
    started: datetime
    elapsed_ms: int


class AgentGateway(Protocol):
    """An agent that can be asked in plain words."""

    def ask(self, prompt: str, *, session: str) -> TurnRecord:
        """Ask once in this session, and wait for the end of the turn.

        A failure of the model's provider is part of the record, and so is a turn that outlasts the timeout: what it
        has done by then may have reached Google.

        Raises:
            Unreachable: no agent answered; nothing was asked.
            NotPermitted: the gateway refuses butlerctl's token.
            BadInput: what answered is no such gateway.
        """
        ...

    def version(self) -> str | None:
        """The gateway's version, or None where it does not tell."""
        ...

    def end_sessions(self) -> tuple[str, ...]:
        """Delete what is left of the sessions that were asked in. The keys of those that stay at the gateway."""
        ...

    def close(self) -> None: ...


def fresh_session() -> str:
    """A session key of its own for each check, so that no check sees another's conversation."""
    return f"butlerctl-{secrets.token_hex(8)}"
