"""What a gateway says and does, gathered for its check: settings, tools, probes, one real turn. Nothing is judged here."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.errors import ButlerctlError, GatewayRefused, Unreachable
from butlerctl.gateway.interface import fresh_session
from butlerctl.gateway.operator import Invocation, Operator, Run, Tool
from butlerctl.gateway.plugin import PLUGIN_ID, PluginFiles, read_plugin
from butlerctl.gateway.rows import messages_of
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route


@dataclass(frozen=True, slots=True)
class RealTurn:
    """One turn with the real model: the question, the gateway's account and the transcript."""

    route: Route
    run: Run
    messages: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class GatewayFacts:
    """What was seen. `tools` is what the agent really gets; `turn` and `plugin` are None when they were not looked at."""

    version: str
    tools: tuple[Tool, ...]
    config: Mapping[str, Any]
    health: Mapping[str, Any]
    cron: Mapping[str, Any]
    invocations: Mapping[Route, Invocation]
    turn: RealTurn | None
    plugin: PluginFiles | None


def look(
    operator: Operator, inventory: Inventory, *, plugin_folder: Path | None, with_turn: bool
) -> GatewayFacts:
    """Gather everything in a session of its own, which is deleted afterwards. No write is caused.

    Raises:
        Unreachable, NotPermitted, GatewayRefused: as `Operator`.
    """
    key = f"agent:{inventory.gateway.agent}:{fresh_session()}"
    operator.create_session(inventory.gateway.agent, key)
    try:
        config = operator.config()
        return GatewayFacts(
            version=operator.version,
            tools=operator.effective_tools(key),
            config=config.get("config") or {},
            health=operator.health(),
            cron=operator.cron_status(),
            invocations=_invoke_reads(operator, inventory),
            turn=_turn(operator, inventory, key) if with_turn else None,
            plugin=_plugin(config.get("config") or {}, plugin_folder),
        )
    finally:
        with contextlib.suppress(ButlerctlError):
            operator.delete_session(key)


def _invoke_reads(operator: Operator, inventory: Inventory) -> dict[Route, Invocation]:
    """Each read route through plugin and n8n, without a model. Write routes are not invoked: they would write."""
    seconds = inventory.n8n.webhook.timeout + 10
    return {
        route: operator.invoke_tool(OPERATIONS[route.operation].tool, _read(inventory, route), seconds)
        for route in _reads(inventory)
    }


def _turn(operator: Operator, inventory: Inventory, key: str) -> RealTurn | None:
    """Ask for a read, in words; None when the household has no read route."""
    route = next(iter(_reads(inventory)), None)
    if route is None:
        return None
    words = {
        "calendar_list": f"List at most one calendar event of {route.profile}.",
        "tasks_list": f"List at most one open task of {route.profile}.",
        "sheets_read": f"Read at most one row of the sheet "
        f"{inventory.profiles[route.profile].spreadsheet.verify_tab} of {route.profile}.",
    }
    run_id = f"butlerctl-{uuid.uuid4().hex}"
    agent, timeout = inventory.gateway.agent, inventory.gateway.timeout
    try:
        run = operator.run(agent, key, words[route.operation], run_id=run_id, timeout=timeout)
        return RealTurn(route, run, messages_of(operator.session_rows(key)))
    except (Unreachable, GatewayRefused) as error:
        return RealTurn(route, Run(run_id, "error", "", {}, (), {"message": error.message}), ())


def _reads(inventory: Inventory) -> list[Route]:
    return [route for route in inventory.routes if not OPERATIONS[route.operation].writes]


def _read(inventory: Inventory, route: Route) -> dict[str, Any]:
    arguments: dict[str, Any] = {"profile": route.profile, "limit": 1}
    if route.operation == "sheets_read":
        arguments["sheet"] = inventory.profiles[route.profile].spreadsheet.verify_tab
    return arguments


def _plugin(config: Mapping[str, Any], named: Path | None) -> PluginFiles | None:
    """The plugin's files: in the named folder, or where the gateway's configuration says, on this machine."""
    if named is not None:
        return read_plugin(named)
    paths = ((config.get("plugins") or {}).get("load") or {}).get("paths") or ()
    found = (read_plugin(Path(path)) for path in paths)
    return next((plugin for plugin in found if plugin and plugin.manifest.get("id") == PLUGIN_ID), None)
