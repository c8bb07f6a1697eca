"""The methods of an OpenClaw gateway that butlerctl uses, over one WebSocket connection."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from butlerctl.errors import ButlerctlError, GatewayRefused
from butlerctl.gateway.operator_cron import Cron
from butlerctl.gateway.plugin import PluginEntry, Setting
from butlerctl.gateway.websocket import Connection, ConnectionLost, refusal

_CONNECT_SECONDS = 20
_GRACE_SECONDS = 15  # the gateway ends a turn some time after its limit, and now and then not at all
_ALL_ROWS = 100_000  # without a limit the gateway gives only the last 200


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the agent really gets. `plugin` is empty for the gateway's own tools."""

    name: str
    plugin: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One finished turn. `status` is the gateway's word (`ok`, `timeout`, `error`): it says nothing about tools.

    `reply` is the text that was delivered. `meta` is the gateway's own account of the turn, `events` what it
    reported while it ran, `error` the gateway's error where the turn failed.
    """

    run_id: str
    status: str
    reply: str
    meta: Mapping[str, Any]
    events: tuple[Mapping[str, Any], ...]
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """What `tools.invoke` gave: `found` is false when the agent has no such tool, `details` the tool's own result.

    `problem` is the gateway's own word where the tool was not run to its end.
    """

    found: bool
    details: Any
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A session that was made. `file` is its transcript on the gateway's machine; empty where the gateway tells none."""

    id: str
    file: str


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of a gateway by their ids; `default` answers where none is named."""

    default: str
    ids: tuple[str, ...]


class Operator:
    """An operator's connection to a gateway. Use as a context manager, or `close` it."""

    def __init__(self, connection: Connection, again: Callable[[], Operator] | None = None) -> None:
        """`again` makes another connection to the same gateway."""
        self._connection = connection
        self._again = again
        self._connected = datetime.now(UTC)

    @classmethod
    def connect(cls, url: str, token: str) -> Self:
        """Connect to the gateway at this http address; while it still starts, try again for 20 seconds.

        Raises:
            Unreachable, NotPermitted, GatewayRefused, BadInput: as `Connection`.
        """
        deadline = time.monotonic() + _CONNECT_SECONDS
        while True:
            try:
                connection = Connection(url, token, timeout=_CONNECT_SECONDS)
                return cls(connection, lambda: cls.connect(url, token))
            except GatewayRefused as error:
                if error.retry_after is None or time.monotonic() + error.retry_after > deadline:
                    raise
                time.sleep(error.retry_after)

    @property
    def version(self) -> str:
        return self._connection.version

    @property
    def started(self) -> datetime | None:
        """When the gateway started, by this machine's clock; None where it does not tell."""
        uptime = self._connection.hello.get("snapshot", {}).get("uptimeMs")
        return self._connected - timedelta(milliseconds=uptime) if isinstance(uptime, int | float) else None

    @property
    def cron(self) -> Cron:
        return Cron(self._connection)

    def clean(self, remove: Callable[[Operator], object]) -> None:
        """Remove something at the gateway; over another connection where this one is lost. Says nothing of failures."""
        with contextlib.suppress(ButlerctlError):
            try:
                remove(self)
            except ConnectionLost:
                if self._again is not None:
                    with self._again() as other:
                        remove(other)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def agents(self) -> Agents:
        answer = self._connection.call("agents.list")
        return Agents(str(answer["defaultId"]), tuple(str(agent["id"]) for agent in answer["agents"]))

    def create_session(self, agent: str, key: str) -> Session:
        answer = self._connection.call("sessions.create", {"key": key, "agentId": agent})
        return Session(str(answer["sessionId"]), str(answer["entry"].get("sessionFile", "")))

    def delete_session(self, key: str) -> bool:
        """Delete a session with its transcript; false when there was none."""
        answer = self._connection.call("sessions.delete", {"key": key, "deleteTranscript": True})
        return answer.get("deleted") is True

    def session_rows(self, key: str) -> list[Mapping[str, Any]]:
        """The rows of a transcript, in order; an unknown session has none."""
        rows: list[Mapping[str, Any]] = self._connection.call(
            "sessions.get", {"key": key, "limit": _ALL_ROWS}
        )["messages"]
        return rows

    def run(self, agent: str, key: str, message: str, *, run_id: str, timeout: float) -> Run:
        """One turn within `timeout` seconds. The same `run_id` again gives the stored answer and no new turn.

        Raises:
            Unreachable: the connection closed, or the gateway did not keep its own time limit.
        """
        params = {
            "message": message,
            "agentId": agent,
            "sessionKey": key,
            "idempotencyKey": run_id,
            "deliver": False,
            "timeout": max(1, round(timeout)),
        }
        answer, events = self._connection.run(params, timeout + _GRACE_SECONDS)
        return _run(run_id, answer, events)

    def effective_tools(self, key: str) -> tuple[Tool, ...]:
        """What the agent of this session gets; the only list of the gateway that tells the truth."""
        groups = self._connection.call("tools.effective", {"sessionKey": key})["groups"]
        return tuple(
            Tool(str(tool["id"]), str(tool.get("pluginId", "")), str(tool.get("rawDescription", "")))
            for group in groups
            for tool in group["tools"]
        )

    def given_tools(self, key: str) -> Mapping[str, str]:
        """What the model was given in the last turn of this session: each tool's name and the hash of its schema."""
        answer = self._connection.call("sessions.usage", {"key": key, "includeContextWeight": True})
        sessions = answer["sessions"]
        return tools_of(sessions[0].get("contextWeight") if sessions else None)

    def invoke_tool(
        self, agent: str, key: str, name: str, arguments: Mapping[str, Any], timeout: float
    ) -> Invocation:
        """Run one tool of this agent without a model, in this session: the plugin counts repeats by session.

        The gateway does not hold the arguments against the tool's schema. Without agent and session it would take
        the default agent's main session.
        """
        params = {"name": name, "args": dict(arguments), "sessionKey": key, "agentId": agent}
        answer = self._connection.call("tools.invoke", params, timeout)
        output, error = answer.get("output") or {}, answer.get("error") or {}
        return Invocation(
            found=error.get("code") != "not_found",
            details=output.get("details"),
            problem="" if answer.get("ok") is True else str(error.get("message", "no reason given")),
        )

    def config(self) -> Mapping[str, Any]:
        """The configuration in force (`config`), as written (`parsed`), and its `hash`; secrets are masked by the gateway."""
        answer: Mapping[str, Any] = self._connection.call("config.get")
        return answer

    def health(self) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._connection.call("health")
        return answer

    def plugin_entry(self, plugin: str) -> PluginEntry:
        """What the gateway read in the manifest of a plugin that it found."""
        place = f"plugins.entries.{plugin}"
        entry = self._connection.call("config.schema.lookup", {"path": place})
        settings = self._connection.call("config.schema.lookup", {"path": f"{place}.config"})
        hint = entry.get("hint") or {}
        return PluginEntry(
            name=str(hint.get("label", "")),
            description=str(hint.get("help", "")).removesuffix(f" (plugin: {plugin})"),
            settings={
                str(child["key"]): Setting(str(child.get("type", "")), child.get("required") is True)
                for child in settings.get("children") or ()
            },
        )


def tools_of(report: Any) -> dict[str, str]:
    """The tools in a gateway's report on one turn's system prompt (`systemPromptReport`): name and schema hash."""
    entries = ((report or {}).get("tools") or {}).get("entries") or ()
    return {str(entry.get("name")): str(entry.get("schemaHash")) for entry in entries}


def _run(run_id: str, answer: Mapping[str, Any], events: tuple[Mapping[str, Any], ...]) -> Run:
    if answer.get("ok") is not True:
        error = answer.get("error") or {}
        if error.get("code") == "INVALID_REQUEST":
            raise refusal("agent", error)
        return Run(run_id, "error", "", {}, events, error)
    payload = answer.get("payload") or {}
    result = payload.get("result") or {}
    texts = [str(part.get("text") or "") for part in result.get("payloads") or ()]
    status = str(payload.get("status", ""))
    return Run(run_id, status, "\n".join(filter(None, texts)), result.get("meta") or {}, events)
