"""The methods of the WebSocket protocol that answer once."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from butlerctl.errors import GatewayRefused
from butlerctl.gateway.plugin import PLUGIN_ID
from butlerctl.lab.gateway.operator_turn import AgentTurn
from butlerctl.lab.gateway.sessions import Sessions, content_of
from butlerctl.protocol.tools import ToolSchema

Params = Mapping[str, Any]


class Agent(Protocol):
    """What the protocol needs of the gateway behind it. `model` is `provider/model id`."""

    version: str
    token: str
    agent: str
    model: str
    sessions: Sessions

    @property
    def offered(self) -> tuple[ToolSchema, ...]: ...

    def take_turn(self, key: str, prompt: str) -> AgentTurn: ...

    def invoke(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]: ...

    def config(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Method:
    """The scope a method needs, and which parameters it must and may have; `optional` None: anything goes."""

    scope: str
    required: tuple[str, ...] = ()
    optional: frozenset[str] | None = field(default_factory=frozenset)


def invalid(message: str) -> GatewayRefused:
    return GatewayRefused(message, code="INVALID_REQUEST")


def now() -> int:
    """Milliseconds since 1970, as the protocol counts."""
    return int(time.time() * 1000)


def _create_session(agent: Agent, params: Params) -> Any:
    key = agent.sessions.full_key(str(params.get("key") or f"dashboard:{uuid.uuid4()}"))
    named = str(params.get("agentId") or agent.agent)
    if not key.startswith(f"agent:{named}:"):
        raise invalid(f"sessions.create key agent ({key.split(':')[1]}) does not match agentId ({named})")
    agent.sessions.open(key)
    session_id = str(uuid.uuid5(uuid.NAMESPACE_OID, key))
    return {
        "ok": True,
        "key": key,
        "sessionId": session_id,
        "entry": {"sessionId": session_id},
        "runStarted": False,
    }


def _delete_session(agent: Agent, params: Params) -> Any:
    key = str(params["key"])
    deleted = agent.sessions.delete(key)
    return {"ok": True, "key": key, "deleted": deleted, "archived": []}


def _session_rows(agent: Agent, params: Params) -> Any:
    if "key" not in params:
        raise invalid("key required")
    session = agent.sessions.get(str(params["key"]))
    return {"messages": session.rows[-int(params.get("limit", 200)) :] if session else []}


def _effective_tools(agent: Agent, params: Params) -> Any:
    key = str(params["sessionKey"])
    if agent.sessions.get(key) is None:
        raise invalid(f'unknown session key "{key}"')
    tools = [
        {
            "id": tool.name,
            "label": tool.name,
            "description": tool.description,
            "rawDescription": tool.description,
            "source": "plugin",
            "pluginId": PLUGIN_ID,
        }
        for tool in sorted(agent.offered, key=lambda tool: tool.name)
    ]
    group = {"id": "plugin", "label": "Connected tools", "source": "plugin", "tools": tools}
    return {"agentId": agent.agent, "profile": "full", "groups": [group]}


def _invoke_tool(agent: Agent, params: Params) -> Any:
    name = str(params["name"])
    if name not in {tool.name for tool in agent.offered}:
        error = {"code": "not_found", "message": f"Tool not available: {name}"}
        return {"ok": False, "toolName": name, "error": error}
    details = agent.invoke(name, params.get("args") or {})
    output = {"content": content_of(details), "details": details}
    return {"ok": True, "toolName": name, "output": output, "source": "plugin"}


def _config(agent: Agent, _params: Params) -> Any:
    config = agent.config()
    text = json.dumps(config, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "exists": True,
        "valid": True,
        "parsed": config,
        "config": config,
        "hash": digest,
        "issues": [],
        "warnings": [],
    }


def _health(agent: Agent, _params: Params) -> Any:
    plugins = {"loaded": [PLUGIN_ID], "errors": []}
    return {"ok": True, "ts": now(), "plugins": plugins, "defaultAgentId": agent.agent}


def _status(agent: Agent, _params: Params) -> Any:
    return {"runtimeVersion": agent.version}


def _cron_status(_agent: Agent, _params: Params) -> Any:
    return {"enabled": True, "storage": "sqlite", "jobs": 0, "nextWakeAtMs": None}


def _cron_list(_agent: Agent, _params: Params) -> Any:
    return {
        "jobs": [],
        "total": 0,
        "offset": 0,
        "limit": 50,
        "hasMore": False,
        "nextOffset": None,
        "deliveryPreviews": {},
    }


_READ, _WRITE, _ADMIN = "operator.read", "operator.write", "operator.admin"

METHODS: Mapping[str, Method] = {
    "health": Method(_READ, optional=None),
    "status": Method(_READ, optional=None),
    "tools.effective": Method(_READ, ("sessionKey",), frozenset({"agentId"})),
    "sessions.get": Method(_READ, optional=None),
    "config.get": Method(_READ),
    "cron.list": Method(_READ, optional=frozenset({"offset", "limit", "includeDisabled"})),
    "cron.status": Method(_READ),
    "agent": Method(
        _WRITE,
        ("message", "idempotencyKey"),
        frozenset({"agentId", "sessionKey", "deliver", "timeout"}),
    ),
    "sessions.create": Method(_WRITE, optional=frozenset({"key", "agentId"})),
    "tools.invoke": Method(_WRITE, ("name",), frozenset({"args", "sessionKey", "agentId"})),
    "sessions.delete": Method(_ADMIN, ("key",), frozenset({"deleteTranscript"})),
}

ANSWERS: Mapping[str, Callable[[Agent, Params], Any]] = {
    "health": _health,
    "status": _status,
    "tools.effective": _effective_tools,
    "sessions.get": _session_rows,
    "config.get": _config,
    "cron.list": _cron_list,
    "cron.status": _cron_status,
    "sessions.create": _create_session,
    "tools.invoke": _invoke_tool,
    "sessions.delete": _delete_session,
}
"""`agent` is not among them: it answers twice."""
