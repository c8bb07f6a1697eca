"""What the facts about a gateway prove. Pure: the same facts give the same findings.

A catalog, a doctor and `health` are not proof: what counts is what the agent gets, what a probe brings back, and
what a real turn did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from butlerctl.checks.gateway import GatewayFacts
from butlerctl.checks.gateway_cron import cron_jobs, cron_lane, cron_retry
from butlerctl.checks.gateway_finding import GatewayFinding, Verdict, at, finding, unproven
from butlerctl.checks.gateway_plugin import plugin_files, plugin_loads, plugin_manifest, plugin_settings
from butlerctl.checks.gateway_question import turn_fault
from butlerctl.errors import ExitCode, combine
from butlerctl.gateway.operator import Invocation, Tool
from butlerctl.gateway.plugin import PLUGIN_ID
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.protocol.tools import household_tools, schema_hash, shape_of


def find(facts: GatewayFacts, inventory: Inventory) -> tuple[GatewayFinding, ...]:
    return tuple(found for check in _CHECKS for found in check(facts, inventory))


def exit_code(findings: tuple[GatewayFinding, ...]) -> ExitCode:
    """What was skipped counts neither way."""
    codes = {
        Verdict.PROVEN: ExitCode.PROVEN,
        Verdict.BROKEN: ExitCode.BROKEN,
        Verdict.UNPROVEN: ExitCode.NOT_PROVEN,
    }
    return combine(codes[found.verdict] for found in findings if found.verdict in codes)


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
    own = facts.tools[inventory.gateway.agent] or ()
    offered = {tool.name for tool in own if tool.plugin == PLUGIN_ID}
    missing = sorted(set(OPERATION_OF_TOOL) - offered)
    yield finding(
        "gateway.tools_offered",
        not missing,
        f"the agent does not get {', '.join(missing)}"
        if missing
        else f"the agent gets all {len(OPERATION_OF_TOOL)} tools",
        "contracts.tools of the plugin's manifest must name every tool, and the agent's tools.allow the plugin",
    )


def _privilege(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """No agent of the gateway may do more: who holds its token, and whoever writes to it, may ask any of them."""
    household = inventory.gateway.agent
    for agent, tools in facts.tools.items():
        own = agent == household
        check = "gateway.least_privilege" if own else f"gateway.least_privilege[{agent}]"
        who = (
            "the agent" if own else f"{agent}{' (the default agent)' if agent == facts.default_agent else ''}"
        )
        if tools is None:
            yield unproven(check, f"the gateway does not tell what {who} gets", "see the gateway's log")
            continue
        more = [*_beyond(tools), *(_beyond_in_turns(facts) if own else ())]
        yield finding(
            check,
            not more,
            f"{who} also gets {', '.join(dict.fromkeys(more))}" if more else f"{who} gets nothing more",
            f'set tools.allow of the agent to ["{PLUGIN_ID}"], or remove the agent: each further tool is power that '
            "nobody asked for",
        )


def _beyond(tools: Iterable[Tool]) -> list[str]:
    return sorted(
        f"{tool.name} ({tool.plugin or 'core'})"
        for tool in tools
        if tool.name not in OPERATION_OF_TOOL or tool.plugin != PLUGIN_ID
    )


def _beyond_in_turns(facts: GatewayFacts) -> list[str]:
    """What the model was really given beyond the household's tools, in a conversation and in a job."""
    lanes = (("in a turn", facts.turn), ("in a job", facts.cron_turn))
    return [
        f"{name} ({lane})"
        for lane, turn in lanes
        if turn is not None
        for name in sorted(turn.given)
        if name not in OPERATION_OF_TOOL
    ]


def _schemas(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    if facts.turn is None:
        yield _no_turn("gateway.schemas")
        return
    seen = facts.turn.given
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
    if invocation.problem:
        return f"the gateway did not run it: {invocation.problem}"
    details = invocation.details if isinstance(invocation.details, Mapping) else {}
    if details.get("ok") is True:
        return ""
    return f"{details.get('boundary', 'unknown boundary')}: {details.get('message') or details.get('error')}"


def _turn(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """A green health beside a turn that fails is the usual way in which an agent is down."""
    del inventory
    if facts.turn is None:
        yield _no_turn("gateway.turn")
        return
    fault, tool = turn_fault(facts.turn), facts.turn.question.tool
    health = "green" if facts.health.get("ok") is True else "not green"
    yield finding(
        "gateway.turn",
        not fault,
        f"{fault}, health is {health}"
        if fault
        else f"a real turn called {tool} and got its answer, health is {health}",
        "only a real turn proves the agent: see the gateway's log, the model's provider, and butlerctl model check",
    )


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
    _privilege,
    plugin_manifest,
    plugin_files,
    plugin_settings,
    plugin_loads,
    _schemas,
    _model,
    _timezone,
    cron_retry,
    cron_jobs,
    _loops,
    _invocations,
    _turn,
    cron_lane,
)
