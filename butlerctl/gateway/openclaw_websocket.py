"""An OpenClaw gateway over its WebSocket protocol: a turn, what the agent was offered for it, and its transcript."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from butlerctl.errors import ButlerctlError, GatewayRefused, Unreachable
from butlerctl.gateway.interface import TurnRecord
from butlerctl.gateway.operator import Operator, Run
from butlerctl.gateway.rows import messages_of, provider_failure, with_delivered
from butlerctl.redaction import redact, redact_text, register_secret

_STATUS = re.compile(r"(?<!\d)[45]\d\d(?!\d)")


class WebSocketGateway:
    """Talks to the gateway at this http address. Sessions that it opened are deleted when it is closed."""

    def __init__(self, url: str, token: str, *, agent: str, timeout: float = 60.0) -> None:
        """Connect. Raises as `Operator.connect`."""
        register_secret(token)
        self._url = url
        self._token = token
        self._agent = agent
        self._timeout = timeout
        self._sessions: set[str] = set()
        self._operator = Operator.connect(url, token)

    def ask(self, prompt: str, *, session: str) -> TurnRecord:
        """See `AgentGateway.ask`."""
        started, clock = datetime.now(UTC), time.monotonic()
        key = f"agent:{self._agent}:{session}"
        self._open(key)
        offered = [tool.name for tool in self._operator.effective_tools(key)]
        run = self._run(key, prompt)
        rows = self._rows(key)
        transcript: dict[str, Any] = {
            "kind": "transcript",
            "at": started.isoformat(timespec="milliseconds"),
            "tools_offered": offered,
            "messages": with_delivered(messages_of(rows), run.reply),
            "complete": bool(rows) and run.status != "lost",
            "run": _account(run),
        }
        failure = provider_failure(rows) or (run.error and _failure(run.error))
        if failure:
            transcript["completions"] = [failure]
        elapsed_ms = int((time.monotonic() - clock) * 1000)
        return TurnRecord(session, redact_text(run.reply), redact(transcript), (), started, elapsed_ms)

    def version(self) -> str | None:
        return self._operator.version or None

    def close(self) -> None:
        """Delete the sessions of this client; what cannot be deleted stays in the gateway's own list."""
        try:
            for key in self._sessions:
                self._operator.delete_session(key)
        except ButlerctlError:
            pass
        finally:
            self._operator.close()

    def _open(self, key: str) -> None:
        """Make the session. A connection that broke since the last turn is opened again: nothing was asked yet."""
        try:
            self._operator.create_session(self._agent, key)
        except Unreachable:
            self._reconnect()
            self._operator.create_session(self._agent, key)
        self._sessions.add(key)

    def _run(self, key: str, prompt: str) -> Run:
        """The turn; never asked again when the connection breaks: a gateway that restarted would take it as new."""
        run_id = f"butlerctl-{uuid.uuid4().hex}"
        try:
            return self._operator.run(self._agent, key, prompt, run_id=run_id, timeout=self._timeout)
        except Unreachable:
            return Run(run_id, "lost", "", {}, ())

    def _rows(self, key: str) -> list[Mapping[str, Any]]:
        try:
            return self._operator.session_rows(key)
        except (Unreachable, GatewayRefused):
            return self._rows_after_reconnect(key)

    def _rows_after_reconnect(self, key: str) -> list[Mapping[str, Any]]:
        try:
            self._reconnect()
            return self._operator.session_rows(key)
        except ButlerctlError:
            return []

    def _reconnect(self) -> None:
        self._operator.close()
        self._operator = Operator.connect(self._url, self._token)


def _account(run: Run) -> dict[str, Any]:
    """The gateway's own account of the turn: a claim, kept beside the evidence."""
    trace = run.meta.get("executionTrace") or {}
    return {
        "id": run.run_id,
        "status": run.status,
        "model": "/".join(filter(None, (trace.get("winnerProvider"), trace.get("winnerModel")))),
        "fallback_used": trace.get("fallbackUsed"),
    }


def _failure(error: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's failure as a completion; its status stands in the gateway's words, where at all."""
    message = str(error.get("message", ""))
    status = _STATUS.search(message)
    return {
        "http_status": int(status[0]) if status else None,
        "body": {"error": {"message": message, "code": error.get("code")}},
    }
