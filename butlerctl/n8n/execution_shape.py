"""Has an execution the shape on which everything rests that reads one? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def is_execution(document: Mapping[str, Any]) -> bool:
    """What is not there, or empty, is no fault: n8n holds data back."""
    data, workflow = document.get("data") or {}, document.get("workflowData") or {}
    if not isinstance(data, Mapping) or not isinstance(workflow, Mapping):
        return False
    result = data.get("resultData") or {}
    return (
        isinstance(workflow.get("nodes") or [], list)
        and isinstance(data.get("redactionInfo") or {}, Mapping)
        and isinstance(result, Mapping)
        and isinstance(result.get("error") or {}, Mapping)
        and _are_runs(result.get("runData") or {})
    )


def _are_runs(runs: Any) -> bool:
    return (
        isinstance(runs, Mapping)
        and all(isinstance(found, list) for found in runs.values())
        and all(_is_run(run) for found in runs.values() for run in found)
    )


def _is_run(run: Any) -> bool:
    if not isinstance(run, Mapping):
        return False
    data = run.get("data") or {}
    return (
        isinstance(data, Mapping)
        and isinstance(run.get("error") or {}, Mapping)
        and all(isinstance(run.get(key, 0), int | float) for key in ("executionIndex", "startTime"))
        and _are_sources(run.get("source") or [])
        and all(isinstance(items, list) and _are_objects(items) for items in _outputs(data.get("main")))
    )


def _are_sources(sources: Any) -> bool:
    """Of each: a name, and numbers that count from nothing."""
    return isinstance(sources, list) and all(
        isinstance(source.get("previousNode", ""), str)
        and all(_is_count(source.get(key) or 0) for key in ("previousNodeRun", "previousNodeOutput"))
        for source in sources
        if isinstance(source, Mapping)
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value >= 0


def _outputs(main: Any) -> Iterator[Any]:
    """None for what has none: an output that nothing went to is null."""
    if main is not None:
        yield from (items or [] for items in main) if isinstance(main, list) else (main,)


def _are_objects(items: list[Any]) -> bool:
    return all(isinstance(item, Mapping) for item in items)
