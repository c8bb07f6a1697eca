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
from butlerctl.lab.gateway.agents import Agents
from butlerctl.lab.gateway.cron import LabCron
from butlerctl.lab.gateway.operator_turn import AgentTurn
from butlerctl.lab.gateway.runs import Ending, Run, Runs, outcome_of
from butlerctl.lab.gateway.sessions import Sessions, content_of
from butlerctl.lab.gateway.settings import PLUGIN_DESCRIPTION, PLUGIN_NAME, PLUGIN_SETTINGS
from butlerctl.protocol.tools import ToolSchema

Params = Mapping[str, Any]


class Agent(Protocol):
    """What the protocol needs of the gateway behind it. `model` is `provider/model id`."""

    version: str
    token: str
    agent: str
    model: str
    agents: Agents
    cron: LabCron
    sessions: Sessions
    runs: Runs

    @property
    def offered(self) -> tuple[ToolSchema, ...]: ...

    def take_turn(self, key: str, prompt: str, run: Run | None = None) -> AgentTurn: ...

    def break_off(self, run: Run) -> None: ...

    def invoke(self, tool: str, arguments: Mapping[str, Any], session: str) -> Mapping[str, Any]: ...

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
    named = str(params.get("agentId") or agent.agents.default)
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
    key = agent.sessions.full_key(str(params["key"]))
    deleted = agent.sessions.delete(key)
    agent.runs.stop(key, None, Ending.DELETED)
    return {"ok": True, "key": key, "deleted": deleted, "archived": []}


def _session_rows(agent: Agent, params: Params) -> Any:
    if "key" not in params:
        raise invalid("key required")
    session = agent.sessions.get(str(params["key"]))
    return {"messages": session.rows[-int(params.get("limit", 200)) :] if session else []}


def _agents_list(agent: Agent, _params: Params) -> Any:
    agents = [{"id": each} for each in agent.agents.ids]
    return {"defaultId": agent.agents.default, "mainKey": "main", "scope": "per-sender", "agents": agents}


def _effective_tools(agent: Agent, params: Params) -> Any:
    key = str(params["sessionKey"])
    if agent.sessions.get(key) is None:
        raise invalid(f'unknown session key "{key}"')
    owner = agent.agents.of_session(key)
    core = [{"id": name, "label": name, "source": "core"} for name in agent.agents.core_tools(owner)]
    groups = [
        {"id": "core", "label": "Built-in tools", "source": "core", "tools": core},
        {
            "id": "plugin",
            "label": "Connected tools",
            "source": "plugin",
            "tools": _plugin_tools(agent, owner),
        },
    ]
    return {"agentId": owner, "profile": "full", "groups": [group for group in groups if group["tools"]]}


def _plugin_tools(agent: Agent, owner: str) -> list[dict[str, str]]:
    offered = agent.offered if owner == agent.agent else ()
    return [
        {
            "id": tool.name,
            "label": tool.name,
            "description": tool.description,
            "rawDescription": tool.description,
            "source": "plugin",
            "pluginId": PLUGIN_ID,
        }
        for tool in sorted(offered, key=lambda tool: tool.name)
    ]


def _invoke_tool(agent: Agent, params: Params) -> Any:
    name = str(params["name"])
    try:
        session = agent.agents.session_for(params.get("sessionKey"), params.get("agentId"))
    except GatewayRefused as refused:
        error = {"code": refused.code, "message": refused.message}
        return {"ok": False, "toolName": name, "error": error}
    owner = agent.agents.of_session(session)
    if name not in {tool["id"] for tool in _plugin_tools(agent, owner)}:
        error = {"code": "not_found", "message": f"Tool not available: {name}"}
        return {"ok": False, "toolName": name, "error": error}
    details = agent.invoke(name, params.get("args") or {}, session)
    output = {"content": content_of(details), "details": details}
    return {"ok": True, "toolName": name, "output": output, "source": "plugin"}


def _abort(agent: Agent, params: Params) -> Any:
    key, run_id = params.get("key"), params.get("runId")
    if key is None and run_id is None:
        raise invalid("key required")
    full = None if key is None else agent.sessions.full_key(str(key))
    stopped = agent.runs.stop(full, run_id, Ending.ABORTED)
    return {"ok": True, "abortedRunId": stopped, "status": "aborted" if stopped else "no-active-run"}


def wait_for_run(agent: Agent, params: Params) -> Any:
    """The answer of `agent.wait`, once the turn has its own or the time is up."""
    run_id, seconds = str(params["runId"]), float(params.get("timeoutMs", 30_000)) / 1000
    run = agent.runs.get(run_id)
    if run is None:
        time.sleep(seconds)
        return {"runId": run_id, "status": "timeout", "timeoutPhase": "queue", "providerStarted": False}
    if run.wait_for_answer(seconds):
        return outcome_of(run)
    return {"runId": run_id, "status": "timeout", "timeoutPhase": "gateway_draining"}


def _usage(agent: Agent, params: Params) -> Any:
    session = agent.sessions.get(str(params["key"])) if "key" in params else None
    if session is None:
        return {"sessions": []}
    return {"sessions": [{"key": session.key, "contextWeight": session.report}]}


def _schema_lookup(_agent: Agent, params: Params) -> Any:
    """The plugin's manifest, as far as the gateway gives it away with its configuration's schema."""
    place = f"plugins.entries.{PLUGIN_ID}"
    path = str(params["path"])
    if path == place:
        return {
            "path": path,
            "hint": {"label": PLUGIN_NAME, "help": f"{PLUGIN_DESCRIPTION} (plugin: {PLUGIN_ID})"},
            "children": [{"key": "enabled", "type": "boolean"}, {"key": "config", "type": "object"}],
        }
    children = PLUGIN_SETTINGS.items() if path == f"{place}.config" else ()
    return {
        "path": path,
        "children": [{"key": key, "type": kind, "required": must} for key, (kind, must) in children],
    }


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
    return {"ok": True, "ts": now(), "plugins": plugins, "defaultAgentId": agent.agents.default}


def _status(agent: Agent, _params: Params) -> Any:
    return {"runtimeVersion": agent.version}


def _cron_status(agent: Agent, _params: Params) -> Any:
    jobs = len(agent.cron.jobs())
    return {"enabled": agent.cron.enabled, "storage": "sqlite", "jobs": jobs, "nextWakeAtMs": None}


def _cron_list(agent: Agent, _params: Params) -> Any:
    jobs = agent.cron.jobs()
    return {
        "jobs": jobs,
        "total": len(jobs),
        "offset": 0,
        "limit": 50,
        "hasMore": False,
        "nextOffset": None,
        "deliveryPreviews": {},
    }


def _cron_add(agent: Agent, params: Params) -> Any:
    return agent.cron.add(params, agent.agents.default)


def _cron_run(agent: Agent, params: Params) -> Any:
    job = agent.cron.get(str(params.get("id")))
    if job is None:
        raise invalid(f"invalid cron.run params: unknown cron job id: {params.get('id')}")

    def take_turn(key: str, prompt: str) -> AgentTurn:
        agent.sessions.delete(key)  # each run has a session of its own
        return agent.take_turn(key, prompt)

    return {"ok": True, "enqueued": True, "runId": agent.cron.start(job, take_turn)}


def _cron_runs(agent: Agent, params: Params) -> Any:
    runs = agent.cron.runs(str(params.get("id")))
    limit = int(params.get("limit", 50))
    return {"entries": runs[:limit], "total": len(runs), "offset": 0, "limit": limit, "nextOffset": None}


def _cron_remove(agent: Agent, params: Params) -> Any:
    if not agent.cron.remove(str(params.get("id"))):
        raise invalid("invalid cron.remove params: id not found")
    return {"ok": True, "removed": True}


_READ, _WRITE, _ADMIN = "operator.read", "operator.write", "operator.admin"

METHODS: Mapping[str, Method] = {
    "health": Method(_READ, optional=None),
    "status": Method(_READ, optional=None),
    "agents.list": Method(_READ),
    "tools.effective": Method(_READ, ("sessionKey",), frozenset({"agentId"})),
    "sessions.usage": Method(_READ, optional=frozenset({"key", "includeContextWeight"})),
    "config.schema.lookup": Method(_READ, ("path",)),
    "sessions.get": Method(_READ, optional=None),
    "config.get": Method(_READ),
    "cron.list": Method(_READ, optional=frozenset({"offset", "limit", "includeDisabled"})),
    "cron.runs": Method(_READ, optional=frozenset({"id", "limit", "sortDir"})),
    "cron.status": Method(_READ),
    "agent": Method(
        _WRITE,
        ("message", "idempotencyKey"),
        frozenset({"agentId", "sessionKey", "deliver", "timeout"}),
    ),
    "agent.wait": Method(_WRITE, ("runId",), frozenset({"timeoutMs"})),
    "sessions.abort": Method(_WRITE, optional=frozenset({"key", "runId", "agentId"})),
    "sessions.create": Method(_WRITE, optional=frozenset({"key", "agentId"})),
    "tools.invoke": Method(_WRITE, ("name",), frozenset({"args", "sessionKey", "agentId"})),
    "sessions.delete": Method(_ADMIN, ("key",), frozenset({"deleteTranscript"})),
    "cron.add": Method(
        _ADMIN,
        ("name", "schedule", "sessionTarget", "wakeMode", "payload"),
        frozenset({"agentId", "enabled", "deleteAfterRun", "delivery"}),
    ),
    "cron.run": Method(_ADMIN, optional=frozenset({"id", "mode"})),
    "cron.remove": Method(_ADMIN, optional=frozenset({"id"})),
}

ANSWERS: Mapping[str, Callable[[Agent, Params], Any]] = {
    "health": _health,
    "status": _status,
    "agents.list": _agents_list,
    "tools.effective": _effective_tools,
    "sessions.get": _session_rows,
    "sessions.usage": _usage,
    "config.get": _config,
    "config.schema.lookup": _schema_lookup,
    "cron.add": _cron_add,
    "cron.list": _cron_list,
    "cron.remove": _cron_remove,
    "cron.run": _cron_run,
    "cron.runs": _cron_runs,
    "cron.status": _cron_status,
    "sessions.abort": _abort,
    "sessions.create": _create_session,
    "tools.invoke": _invoke_tool,
    "sessions.delete": _delete_session,
}
"""`agent` and `agent.wait` are not among them: they take their time."""
