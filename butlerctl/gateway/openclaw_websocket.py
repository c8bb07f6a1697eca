"""An OpenClaw gateway over its WebSocket protocol: a turn, what the agent was offered for it, and its transcript."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from butlerctl.errors import ButlerctlError, Unreachable
from butlerctl.gateway.events import with_events
from butlerctl.gateway.interface import TurnRecord
from butlerctl.gateway.operator import Operator, Run
from butlerctl.gateway.rows import messages_of, provider_failure, with_delivered
from butlerctl.gateway.websocket import ConnectionLost, TurnLost
from butlerctl.redaction import redact, redact_text, register_secret

_STATUS = re.compile(r"(?<!\d)[45]\d\d(?!\d)")
_ENDED = frozenset({"ok", "error"})  # the gateway's words for a turn that came to its end
_T = TypeVar("_T")


class WebSocketGateway:
    """Talks to the gateway at this http address, from several threads over one connection.

    A session is deleted after its question, with whatever still runs in it.
    """

    def __init__(self, url: str, token: str, *, agent: str, timeout: float = 60.0) -> None:
        """Connect. Raises as `Operator.connect`."""
        register_secret(token)
        self._url = url
        self._token = token
        self._agent = agent
        self._timeout = timeout
        self._lock = threading.Lock()
        self._left: dict[str, None] = {}
        self._operator = Operator.connect(url, token)

    def ask(self, prompt: str, *, session: str) -> TurnRecord:
        """See `AgentGateway.ask`."""
        started, clock = datetime.now(UTC), time.monotonic()
        key = f"agent:{self._agent}:{session}"
        self._connected(lambda operator: operator.create_session(self._agent, key))
        self._left[key] = None
        try:
            offered = [tool.name for tool in self._connected(lambda operator: operator.effective_tools(key))]
            run = self._run(key, prompt)
            rows = self._rows(key)
        finally:
            self._delete(key)
        messages, whole = messages_of(rows), bool(rows) and run.status in _ENDED
        if not whole:
            messages = with_events(messages, run.events, prompt)
        transcript: dict[str, Any] = {
            "kind": "transcript",
            "at": started.isoformat(timespec="milliseconds"),
            "tools_offered": offered,
            "messages": with_delivered(messages, run.reply),
            "complete": whole,
            "run": _account(run),
        }
        failure = provider_failure(rows) or (run.error and _failure(run.error))
        if failure:
            transcript["completions"] = [failure]
        elapsed_ms = int((time.monotonic() - clock) * 1000)
        return TurnRecord(session, redact_text(run.reply), redact(transcript), (), started, elapsed_ms)

    def version(self) -> str | None:
        return self._operator.version or None

    def end_sessions(self) -> tuple[str, ...]:
        """See `AgentGateway.end_sessions`."""
        for key in tuple(self._left):
            if not self._delete(key):
                break
        return tuple(self._left)

    def close(self) -> None:
        try:
            self.end_sessions()
        finally:
            self._operator.close()

    def _run(self, key: str, prompt: str) -> Run:
        """The turn; never asked again once it was sent: a gateway that restarted would take it as new."""
        run_id = f"butlerctl-{uuid.uuid4().hex}"
        try:
            return self._connected(
                lambda operator: operator.run(self._agent, key, prompt, run_id=run_id, timeout=self._timeout)
            )
        except TurnLost as lost:
            return Run(run_id, "lost", "", {}, lost.events)

    def _rows(self, key: str) -> list[Mapping[str, Any]]:
        """The transcript's rows; none where the gateway does not give them: the turn has happened all the same."""
        try:
            return self._connected(lambda operator: operator.session_rows(key))
        except ButlerctlError:
            return []

    def _delete(self, key: str) -> bool:
        """Delete a session; one that cannot be deleted now is tried again at the end. False: nobody answers."""
        try:
            self._connected(lambda operator: operator.delete_session(key))
            self._left.pop(key, None)
        except Unreachable:
            return False
        except ButlerctlError:
            return True
        return True

    def _connected(self, action: Callable[[Operator], _T]) -> _T:
        """Do something over the connection, and where that is lost, once more over a new one.

        Every request but a turn can be made twice; a turn that was sent is `TurnLost` and not made again.
        """
        operator = self._operator
        try:
            return action(operator)
        except ConnectionLost:
            return action(self._renewed(operator))

    def _renewed(self, lost: Operator) -> Operator:
        """A new connection in place of the lost one, unless another thread has made it already."""
        with self._lock:
            if self._operator is lost:
                lost.close()
                self._operator = Operator.connect(self._url, self._token)
            return self._operator


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
