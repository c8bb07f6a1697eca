"""Can this model, behind this provider, do tool calls the way the gateway expects?

Every scenario is run k times, streamed and not. All k must be right: a household cannot use three of five.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.protocol.battery import Scenario, fault_of
from butlerctl.protocol.budget import Budget
from butlerctl.protocol.call import RejectedCall
from butlerctl.protocol.loop import Turn, run_turn
from butlerctl.protocol.provider import Provider

BASELINE_VERSION = 1
# What may not fall, and what may not rise, against a baseline.
_RATES = ("pass_rate", "trigger_rate", "schema_accuracy")
_COUNTS = ("leaks", "finish_mismatch", "malformed_names")


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one scenario."""

    scenario: Scenario
    streamed: bool
    fault: str | None
    turn: Turn

    @property
    def unknown_names(self) -> list[str]:
        return [
            call.name
            for call in self.turn.calls
            if isinstance(call, RejectedCall) and call.code == "unknown_tool"
        ]


def run_battery(
    scenarios: Sequence[Scenario],
    providers: Mapping[bool, Provider],
    repeats: int,
    budget: Budget,
    on_sample: Callable[[Sample], None] = lambda _: None,
) -> list[Sample]:
    """Every scenario, `repeats` times with each provider. `providers`: streamed or not -> who answers."""
    samples = []
    for scenario in scenarios:
        for streamed, provider in providers.items():
            for _ in range(repeats):
                turn = run_turn(provider, scenario.registry(), scenario.messages, budget=budget)
                sample = Sample(scenario, streamed, fault_of(scenario, turn), turn)
                on_sample(sample)
                samples.append(sample)
    return samples


def summarize(samples: Sequence[Sample]) -> dict[str, Any]:
    """The figures of a run as one JSON object, also the form of a baseline. Rates are None without a basis."""
    due = [sample for sample in samples if sample.scenario.expected]
    called = [sample for sample in samples if sample.turn.calls]
    times = sorted(each["elapsed_ms"] for sample in samples for each in sample.turn.completions)
    return {
        "version": BASELINE_VERSION,
        "runs": len(samples),
        "pass_rate": _rate(samples, lambda sample: sample.fault is None),
        "trigger_rate": _rate(due, lambda sample: bool(sample.turn.calls)),
        "schema_accuracy": _rate(called, lambda sample: not sample.turn.errors),
        "leaks": dict(Counter(kind for sample in samples for kind in sample.turn.leaks)),
        "finish_mismatch": sum("finish_mismatch" in sample.turn.notes for sample in samples),
        "malformed_names": dict(Counter(name for sample in samples for name in sample.unknown_names)),
        "errors": dict(Counter(code for sample in samples for code in sample.turn.errors)),
        "providers": dict(Counter(name for sample in samples for name in _providers(sample.turn))),
        "latency_ms": {"median": int(median(times)), "most": times[-1]} if times else {},
        "usage": _summed(sample.turn.usage for sample in samples),
        "scenarios": {name: _scenario_summary(group) for name, group in _by_scenario(samples).items()},
    }


def worse_than(summary: Mapping[str, Any], baseline: Any) -> list[str]:
    """What got worse since the baseline, one line each. Raises BadInput when the baseline is none."""
    if not isinstance(baseline, dict) or baseline.get("version") != BASELINE_VERSION:
        raise BadInput("the baseline is not a file that `model check --save` wrote")
    return [*_fallen_rates(summary, baseline), *_risen_counts(summary, baseline), *_lost(summary, baseline)]


def _fallen_rates(now: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    for key in _RATES:
        if before.get(key) is not None and (now[key] or 0.0) < before[key]:
            yield f"{key} fell from {before[key]:.0%} to {now[key] or 0.0:.0%}"


def _risen_counts(now: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    """Counts per run, because a baseline may have been made with another k."""
    for key in _COUNTS:
        new, old = (_total(summary.get(key, 0)) / max(1, summary["runs"]) for summary in (now, before))
        if new > old:
            yield f"{key} rose from {old:.2f} to {new:.2f} a run"


def _lost(now: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    for name, old in before.get("scenarios", {}).items():
        new = now["scenarios"].get(name)
        if new and _all_pass(old) and not _all_pass(new):
            yield f"{name} passed every time and does not now"


def _total(count: Any) -> int:
    return sum(count.values()) if isinstance(count, Mapping) else int(count)


def _all_pass(scenario: Mapping[str, Any]) -> bool:
    return all(passed == runs for passed, runs in scenario["passed"].values())


def _rate(samples: Sequence[Sample], holds: Callable[[Sample], bool]) -> float | None:
    return sum(map(holds, samples)) / len(samples) if samples else None


def _by_scenario(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.scenario.name, []).append(sample)
    return groups


def _scenario_summary(samples: Sequence[Sample]) -> dict[str, Any]:
    """`passed` holds for each mode how many of how many runs were right."""
    passed = {}
    for mode, streamed in (("stream", True), ("plain", False)):
        runs = [sample for sample in samples if sample.streamed is streamed]
        if runs:
            passed[mode] = [sum(sample.fault is None for sample in runs), len(runs)]
    faults = dict.fromkeys(sample.fault for sample in samples if sample.fault)
    return {"aspect": samples[0].scenario.aspect, "passed": passed, "faults": list(faults)}


def _providers(turn: Turn) -> Iterator[str]:
    """Who really answered, where a router says so."""
    for completion in turn.completions:
        body = completion["body"]
        for part in body[:1] if isinstance(body, list) else [body]:
            if isinstance(part, dict) and isinstance(part.get("provider"), str):
                yield part["provider"]


def _summed(usages: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for usage in usages:
        for key, value in usage.items():
            total[key] = total.get(key, 0) + value
    return total
