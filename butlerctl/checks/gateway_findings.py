"""What the facts about a gateway prove. Pure: the same facts give the same findings.

A catalog, a doctor and `health` are not proof: what counts is what the agent gets, what a probe brings back, and
what a real turn did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from butlerctl.checks.gateway import GatewayFacts
from butlerctl.checks.gateway_finding import GatewayFinding, at, finding, unproven
from butlerctl.checks.gateway_plugin import plugin_files, plugin_loads, plugin_settings
from butlerctl.errors import ExitCode, combine
from butlerctl.gateway.operator import Invocation
from butlerctl.gateway.plugin import PLUGIN_ID
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATION_OF_TOOL, OPERATIONS
from butlerctl.judge.result import Verdict
from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.tools import household_tools, schema_hash, shape_of

CRON_BACKOFF_MS = [60_000, 300_000, 900_000]


def find(facts: GatewayFacts, inventory: Inventory) -> tuple[GatewayFinding, ...]:
    return tuple(found for check in _CHECKS for found in check(facts, inventory))


def exit_code(findings: tuple[GatewayFinding, ...]) -> ExitCode:
    codes = {
        Verdict.PROVEN: ExitCode.PROVEN,
        Verdict.BROKEN: ExitCode.BROKEN,
        Verdict.UNPROVEN: ExitCode.NOT_PROVEN,
    }
    return combine(codes[found.verdict] for found in findings)


def _version(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    pin = inventory.pins.gateway
    if not pin:
        yield unproven("gateway.version", f"OpenClaw {facts.version}, and no pin", "set pins.gateway")
        return
    yield finding(
        "gateway.version",
        facts.version == pin,
        f"OpenClaw {facts.version}, pinned {pin}",
        "install the pinned version with its own state and workspace: a newer one rewrites the configuration",
    )


def _tools(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    wanted = set(OPERATION_OF_TOOL)
    offered = {tool.name for tool in facts.tools if tool.plugin == PLUGIN_ID}
    missing = sorted(wanted - offered)
    yield finding(
        "gateway.tools_offered",
        not missing,
        f"the agent does not get {', '.join(missing)}"
        if missing
        else f"the agent gets all {len(wanted)} tools",
        "contracts.tools of the plugin's manifest must name every tool, and the agent's tools.allow the plugin",
    )
    more = sorted(
        f"{tool.name} ({tool.plugin or 'core'})"
        for tool in facts.tools
        if tool.name not in wanted or tool.plugin != PLUGIN_ID
    )
    yield finding(
        "gateway.least_privilege",
        not more,
        f"the agent also gets {', '.join(more)}" if more else "and nothing more",
        f'set tools.allow of the agent to ["{PLUGIN_ID}"]: each further tool is power that nobody asked for',
    )


def _schemas(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    if facts.turn is None:
        yield _no_turn("gateway.schemas")
        return
    entries = at(facts.turn.run.meta, "systemPromptReport", "tools", "entries") or []
    seen = {str(entry.get("name")): str(entry.get("schemaHash")) for entry in entries}
    if not seen:
        yield unproven(
            "gateway.schemas", "the turn reports no schema", "repeat; the turn may have failed early"
        )
        return
    wanted = {tool.name: schema_hash(tool) for tool in household_tools(shape_of(inventory))}
    changed = sorted(name for name in wanted if seen.get(name) != wanted[name])
    yield finding(
        "gateway.schemas",
        not changed,
        f"the model was given another schema of {', '.join(changed)}"
        if changed
        else "the model was given the contract's schemas",
        "plugin and inventory differ: compare gateway.plugin_files and gateway.plugin_settings",
    )


def _model(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    pin = inventory.pins.model
    primary, fallbacks = _models(facts.config, inventory.gateway.agent)
    if not pin:
        yield unproven("gateway.model", f"{primary or 'no model'}, and no pin", "set pins.model")
    else:
        winner = _winner(facts)
        seen = f"configured {primary}" + (f", answered by {winner}" if winner else "")
        ok = primary == pin and winner in ("", pin)
        yield finding(
            "gateway.model", ok, f"{seen}, pinned {pin}", "set the agent's model.primary to the pin"
        )
    used = facts.turn is not None and at(facts.turn.run.meta, "executionTrace", "fallbackUsed") is True
    yield finding(
        "gateway.no_fallback",
        not fallbacks and not used,
        f"fallbacks: {', '.join(fallbacks) or 'used in the turn'}"
        if fallbacks or used
        else "no fallback model",
        "set model.fallbacks to []: another model may not speak the tool protocol; cron retries take its place",
    )


def _timezone(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """Without it the gateway tells the model the machine's own zone, and events land at other hours."""
    told = at(facts.config, "agents", "defaults", "userTimezone")
    yield finding(
        "gateway.timezone",
        told == inventory.timezone,
        f"the model is told {told or 'the time zone of the machine'}, the household lives in {inventory.timezone}",
        f'set agents.defaults.userTimezone to "{inventory.timezone}"',
    )


def _cron(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    retry = at(facts.config, "cron", "retry") or {}
    attempts, backoff = retry.get("maxAttempts"), retry.get("backoffMs")
    enabled = facts.cron.get("enabled") is True
    yield finding(
        "gateway.cron_retry",
        enabled and attempts == len(CRON_BACKOFF_MS) and backoff == CRON_BACKOFF_MS,
        f"cron {'on' if enabled else 'off'}, {attempts} attempts after {backoff} ms",
        "set cron.retry to maxAttempts 3 and backoffMs [60000, 300000, 900000]; 2026.9.6 drops this setting",
    )


def _loops(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    enabled = at(facts.config, "tools", "loopDetection", "enabled") is True
    yield finding(
        "gateway.loop_detection",
        enabled,
        "on: it stops equal outcomes alone, such as the plugin's refusals of the same call"
        if enabled
        else "off",
        "set tools.loopDetection.enabled to true",
    )


def _invocations(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    for route, invocation in facts.invocations.items():
        fault = _invocation_fault(invocation)
        yield finding(
            f"gateway.invoke[{route}]",
            not fault,
            fault or "plugin and n8n answer",
            f"butlerctl probe {route} tells which link is broken",
        )


def _invocation_fault(invocation: Invocation) -> str:
    """The gateway's own ok says nothing about the tool's: its details decide."""
    if not invocation.found:
        return "the agent has no such tool"
    details = invocation.details if isinstance(invocation.details, Mapping) else {}
    if details.get("ok") is True:
        return ""
    return f"{details.get('boundary', 'unknown boundary')}: {details.get('message') or details.get('error')}"


def _turn(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """A green health beside a turn that fails is the usual way in which an agent is down."""
    del inventory
    turn = facts.turn
    if turn is None:
        yield _no_turn("gateway.turn")
        return
    tool = OPERATIONS[turn.route.operation].tool
    fault = _turn_fault(turn.run.status, turn.run.error, turn.messages, tool)
    health = "green" if facts.health.get("ok") is True else "not green"
    if "transport" in turn.run.meta:
        fault = f"the turn ran over {turn.run.meta['transport']}, not in this gateway"
    yield finding(
        "gateway.turn",
        not fault,
        f"{fault}, health is {health}"
        if fault
        else f"a real turn called {tool} and got its answer, health is {health}",
        "only a real turn proves the agent: see the gateway's log, the model's provider, and butlerctl model check",
    )


def _turn_fault(status: str, error: Mapping[str, Any] | None, messages: Any, tool: str) -> str:
    if error is not None or status != "ok":
        return f"a real turn ended as {status}: {(error or {}).get('message', '')}".rstrip(": ")
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    named = [call["function"] for call in calls if call["function"]["name"] == tool]
    if not named:
        return f"the model answered a request for {tool} without calling it"
    try:
        decode(named[0]["arguments"])
    except NotStrictJson as problem:
        return f"the model's arguments are no JSON: {problem}"
    results = [message for message in messages if message.get("role") == "tool"]
    return "" if results and not results[-1].get("is_error") else f"{tool} failed in a real turn"


def _no_turn(check: str) -> GatewayFinding:
    return unproven(check, "no real turn was made", "leave out --no-turn")


def _winner(facts: GatewayFacts) -> str:
    trace = at(facts.turn.run.meta, "executionTrace") if facts.turn else None
    parts = (
        [str(trace[name]) for name in ("winnerProvider", "winnerModel") if trace.get(name)] if trace else []
    )
    return "/".join(parts)


def _models(config: Mapping[str, Any], agent: str) -> tuple[str, list[str]]:
    """The agent's model and fallbacks: its own setting before the default of all agents."""
    agents = config.get("agents") or {}
    own: Mapping[str, Any] = next((each for each in agents.get("list") or () if each.get("id") == agent), {})
    model = own.get("model") or (agents.get("defaults") or {}).get("model") or {}
    if isinstance(model, str):
        return model, []
    return str(model.get("primary", "")), [str(name) for name in model.get("fallbacks") or ()]


_CHECKS: tuple[Callable[[GatewayFacts, Inventory], Iterator[GatewayFinding]], ...] = (
    _version,
    _tools,
    plugin_files,
    plugin_settings,
    plugin_loads,
    _schemas,
    _model,
    _timezone,
    _cron,
    _loops,
    _invocations,
    _turn,
)
