"""An agent without a gateway: butlerctl's own function-calling loop with any OpenAI-compatible provider."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.errors import NotPermitted, Unreachable
from butlerctl.gateway.house_rules import house_rules
from butlerctl.gateway.interface import TurnRecord
from butlerctl.gateway.webhook_tools import ToolRun, WebhookTools
from butlerctl.protocol.budget import Budget
from butlerctl.protocol.loop import Turn, run_turn
from butlerctl.protocol.provider import Message, Provider
from butlerctl.redaction import redact


class OpenAiAgent:
    """Runs the loop itself, with the webhook tools as its tools. Sessions are kept as long as the object lives.

    `timezone` is the household's zone, `timeout` the seconds that one turn may take.
    """

    def __init__(
        self, provider: Provider, tools: WebhookTools, *, timezone: str, timeout: float = 60.0
    ) -> None:
        self._provider = provider
        self._tools = tools
        self._timezone = timezone
        self._budget = Budget(seconds=timeout)
        self._sessions: dict[str, list[Message]] = {}

    def ask(self, prompt: str, *, session: str) -> TurnRecord:
        """See `AgentGateway.ask`. A provider that cannot be reached at all, or refuses the key, is no turn."""
        started, clock = datetime.now(UTC), time.monotonic()
        today = datetime.now(ZoneInfo(self._timezone)).date()
        rules: Message = {
            "role": "system",
            "content": house_rules(self._tools.settings.shape, self._timezone, today),
        }
        asked: Message = {"role": "user", "content": prompt}
        history = self._sessions.get(session, [])
        run = ToolRun(self._tools)
        turn = run_turn(self._provider, run.registry, [rules, *history, asked], budget=self._budget)
        _refuse_without_provider(turn)
        self._sessions[session] = list(turn.messages[1:])
        transcript = {
            "kind": "transcript",
            "at": started.isoformat(timespec="milliseconds"),
            "tools_offered": list(run.registry.names),
            "messages": list(turn.messages),
            "completions": list(turn.completions),
            "complete": turn.stop in ("answered", "cut_off", "no_completion", "provider_error"),
        }
        elapsed_ms = int((time.monotonic() - clock) * 1000)
        exchanges = tuple(exchanges_of(turn, run))
        return TurnRecord(session, turn.reply, redact(transcript), exchanges, started, elapsed_ms)

    def version(self) -> str | None:
        """There is no gateway whose version could be told."""
        return None

    def end_sessions(self) -> tuple[str, ...]:
        """The conversations are in this process alone."""
        self._sessions.clear()
        return ()

    def close(self) -> None:
        self._tools.close()


def exchanges_of(turn: Turn, run: ToolRun) -> list[dict[str, Any]]:
    """The exchanges of a turn's tools, each with the id of its call. Tools run one after the other, so order tells."""
    executed = [observation.id for observation in turn.observations if observation.executed]
    return [
        {**exchange, "tool_call_id": call_id}
        for call_id, exchange in zip(executed, run.exchanges, strict=False)
        if exchange is not None
    ]


def _refuse_without_provider(turn: Turn) -> None:
    """
    Raises:
        NotPermitted, Unreachable: the very first completion failed so; nothing was asked.
    """
    if turn.stop != "provider_error" or turn.calls:
        return
    last: Mapping[str, Any] = turn.completions[-1] if turn.completions else {}
    if last.get("http_status") in (401, 403):
        raise NotPermitted(
            "the model's provider refuses the key", hint="check the key that the inventory names"
        )
    if last.get("http_status") is None:
        raise Unreachable(f"the model's provider does not answer: {last.get('error', '')}")
