"""A report as metrics for Prometheus, in its text format (the textfile collector of node_exporter reads it).

No label holds an id, a time or a URL, so that the number of series stays that of the routes and links.
"""

from __future__ import annotations

from collections.abc import Iterator

from butlerctl.judge.result import ChainVerdict, Verdict
from butlerctl.report.run import RouteResult, Run
from butlerctl.report.words import Shown


def as_prometheus(shown: Shown) -> str:
    run = shown.run
    lines = (
        *_metric("run_success", "Whether every route asked for is proven.", [("", _flag(_passed(run)))]),
        *_metric(
            "run_timestamp_seconds",
            "When the run began, Unix time.",
            [("", f"{run.started.timestamp():.3f}")],
        ),
        *_metric("run_duration_seconds", "How long the run took.", [("", f"{run.seconds:.3f}")]),
        *_metric("leftovers", "Test objects that a person must look at.", [("", str(len(run.leftovers)))]),
        *_metric("check_success", "Whether a link of a route is proven.", list(_links(run))),
        *_metric(
            "check_duration_seconds", "How long a route's evidence took to collect.", list(_durations(run))
        ),
    )
    return "\n".join(lines) + "\n"


def _passed(run: Run) -> bool:
    return run.verdict is ChainVerdict.PASS


def _metric(name: str, meaning: str, samples: list[tuple[str, str]]) -> Iterator[str]:
    if samples:
        yield f"# HELP butlerctl_{name} {meaning}"
        yield f"# TYPE butlerctl_{name} gauge"
    for labels, value in samples:
        yield f"butlerctl_{name}{labels} {value}"


def _links(run: Run) -> Iterator[tuple[str, str]]:
    for result in run.routes:
        for link in result.judgement.links:
            yield _labels(link.link, result), _flag(link.verdict is Verdict.PROVEN)


def _durations(run: Run) -> Iterator[tuple[str, str]]:
    for result in run.routes:
        yield _labels("roundtrip", result), f"{result.seconds:.3f}"


def _labels(check: str, result: RouteResult) -> str:
    labels = {"check": check, "op": result.route.operation, "profile": result.route.profile}
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items()) + "}"


def _escape(value: str) -> str:
    """One label that cannot be read costs the whole file: half of a surrogate pair is none of UTF-8."""
    value = value.encode("utf-8", errors="replace").decode("utf-8")
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _flag(value: object) -> str:
    return "1" if value else "0"
