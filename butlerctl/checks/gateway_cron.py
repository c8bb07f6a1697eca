"""What the facts prove about scheduled jobs: how they are retried, how they went, what their lane offers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from butlerctl.checks.gateway import GatewayFacts, SeenJob
from butlerctl.checks.gateway_finding import GatewayFinding, at, finding, unproven
from butlerctl.checks.gateway_question import turn_fault
from butlerctl.gateway.plugin import PLUGIN_ID
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.protocol.tools import household_tools, schema_hash, shape_of

CRON_BACKOFF_MS = [60_000, 300_000, 900_000]
RETRY_ON = ("rate_limit", "overloaded", "network", "timeout", "server_error")
"""Every kind of failure that passes; the gateway retries all of them where its configuration names none."""


def cron_retry(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    retry = at(facts.config, "cron", "retry") or {}
    attempts, backoff = retry.get("maxAttempts"), retry.get("backoffMs")
    kinds = retry.get("retryOn", list(RETRY_ON))
    missing = [kind for kind in RETRY_ON if kind not in kinds]
    after = f"{attempts} attempts after {backoff} ms" + (
        f", not after {', '.join(missing)}" if missing else ""
    )
    yield finding(
        "gateway.cron_retry",
        facts.cron_enabled
        and attempts == len(CRON_BACKOFF_MS)
        and backoff == CRON_BACKOFF_MS
        and not missing,
        f"cron {'on' if facts.cron_enabled else 'off'}, {after}",
        "set cron.retry to maxAttempts 3, backoffMs [60000, 300000, 900000] and no retryOn, or all five kinds; "
        "2026.9.6 drops this setting",
    )


def cron_jobs(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """The gateway calls a run ok whatever became of its tools, so its transcript counts too."""
    faults = [fault for seen in facts.jobs for fault in _job_faults(seen, inventory.pins.model)]
    yield finding(
        "gateway.cron_jobs",
        not faults,
        "; ".join(faults) or _told(facts.jobs),
        "openclaw cron runs shows a job's runs; run or remove what failed, and give no job a model or tools of its own",
    )


def cron_lane(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """A gateway may give a tool in conversations and not in jobs."""
    check, turn = "gateway.cron_lane", facts.cron_turn
    if turn is None:
        why, step = (
            ("no real turn was made", "leave out --no-turn")
            if facts.cron_enabled
            else ("cron is off", "set cron.enabled to true")
        )
        yield unproven(check, why, step)
        return
    wanted = {tool.name: schema_hash(tool) for tool in household_tools(shape_of(inventory))}
    differing = sorted(name for name in wanted if turn.given.get(name) != wanted[name])
    fault = turn_fault(turn) or (f"a job is not given {', '.join(differing)} as shipped" if differing else "")
    yield finding(
        check,
        not fault,
        fault or f"a job is given the same tools, called {turn.question.tool} and got its answer",
        "compare gateway.turn: what holds there and not here lies in the gateway's lane of scheduled jobs",
    )


def _job_faults(seen: SeenJob, model_pin: str) -> Iterator[str]:
    job, last = seen.job, seen.job.last
    if last is not None and last.status == "error" and (job.enabled or job.runs_once):
        yield f"{job.name} failed on {last.at:%Y-%m-%d %H:%M} UTC: {last.reason or last.error or 'no reason given'}"
    if seen.failed_tools:
        yield f"{job.name} is called ok, and {', '.join(seen.failed_tools)} failed in it"
    if job.enabled and job.model and model_pin and job.model != model_pin:
        yield f"{job.name} runs with {job.model}"
    if job.enabled and job.fallbacks:
        yield f"{job.name} falls back to {', '.join(job.fallbacks)}"
    more = [tool for tool in job.tools if tool not in OPERATION_OF_TOOL and tool.lower() != PLUGIN_ID]
    if job.enabled and more:
        yield f"{job.name} asks for {', '.join(more)}"


def _told(jobs: Sequence[SeenJob]) -> str:
    if not jobs:
        return "no job"
    programs = [seen.job.name for seen in jobs if seen.job.kind == "command"]
    ran = sum(seen.job.last is not None for seen in jobs)
    told = f"{len(jobs)} jobs, {ran} of them ran, and no last run failed"
    return told + (f"; a program, not the agent, runs in {', '.join(programs)}" if programs else "")
