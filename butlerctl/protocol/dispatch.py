"""The one place where a tool's function is called, and the one observation that each call gets."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Protocol

from butlerctl.protocol import observation
from butlerctl.protocol.call import Call, RejectedCall
from butlerctl.protocol.observation import Observation
from butlerctl.protocol.registry import Registry


class Watch(Protocol):
    """Whoever wants to know of each tool that is run, at once."""

    def started(self, call: Call) -> None: ...

    def ended(self, observation: Observation) -> None: ...


def dispatch(call: Call | RejectedCall, registry: Registry) -> Observation:
    """Run one call and return its observation. Never raises for what a tool does; a rejected call runs nothing."""
    if isinstance(call, RejectedCall):
        return observation.of_rejection(call)
    tool = registry.get(call.name)
    if tool is None or tool.function is None:
        return observation.not_run(
            call.id, call.name, "unknown_tool", "Nothing stands behind this tool here."
        )
    try:
        result = tool.function(**call.args)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises must reach the model as a failure
        return observation.of_failure(call.id, call.name, error)
    return observation.of_result(call.id, call.name, result)


def dispatch_all(
    calls: Sequence[Call | RejectedCall],
    registry: Registry,
    *,
    workers: int = 1,
    may_start: int | None = None,
    cancel: Event | None = None,
    watch: Watch | None = None,
) -> tuple[Observation, ...]:
    """One observation for each call, in the order of the calls, whatever order they finish in.

    `may_start`: how many functions may still be started; further calls are answered `over_budget`.
    `cancel`: once set, calls that have not started are answered `cancelled`. `watch` is told of calls that run.
    """
    stop = cancel or Event()

    def run(item: tuple[Call | RejectedCall, bool]) -> Observation:
        call, allowed = item
        if isinstance(call, Call) and not allowed:
            return observation.not_run(call.id, call.name, "over_budget", "The budget of calls is used up.")
        if isinstance(call, Call) and stop.is_set():
            return observation.not_run(
                call.id, call.name, "cancelled", "The turn was cancelled before this ran."
            )
        return (
            _watched(call, registry, watch) if isinstance(call, Call) and watch else dispatch(call, registry)
        )

    planned = list(zip(calls, _allowances(calls, may_start), strict=True))
    if workers <= 1 or len(planned) <= 1:
        return tuple(map(run, planned))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        return tuple(pool.map(run, planned))


def _watched(call: Call, registry: Registry, watch: Watch) -> Observation:
    watch.started(call)
    observed = dispatch(call, registry)
    watch.ended(observed)
    return observed


def _allowances(calls: Sequence[Call | RejectedCall], may_start: int | None) -> list[bool]:
    left = len(calls) if may_start is None else may_start
    allowances = []
    for call in calls:
        allowances.append(left > 0)
        left -= isinstance(call, Call)
    return allowances
