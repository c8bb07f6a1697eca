"""When a report is believed. The signature is the easy half: it would fit FAILED and last month's run too.

Only verified bytes are parsed, and every refusal is named, so that one call shows all that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from butlerctl.errors import Refused
from butlerctl.judge.result import ChainVerdict, Verdict
from butlerctl.redaction import redact_text
from butlerctl.report.run import Run, plan_digest
from butlerctl.report.signing import check_signature, parse_report
from butlerctl.report.statement import contradictions, result_of, run_of

if TYPE_CHECKING:
    from butlerctl.report.keys import PublicKey

CLOCK_SKEW = timedelta(minutes=5)
DEFAULT_MAX_AGE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Policy:
    """What is asked of a report. None means: not asked.

    `workflows` maps the names of the current workflows to their canonical digests, `nonce` is the one that
    the asking side gave to the run: without a challenger a nonce proves nothing.
    """

    trusted: tuple[PublicKey, ...]
    max_age: timedelta = DEFAULT_MAX_AGE
    target: str | None = None
    workflows: Mapping[str, str] | None = None
    inventory_digest: str | None = None
    nonce: str | None = None

    @property
    def open_questions(self) -> tuple[str, ...]:
        """What was not asked, so that an acceptance says how much it is worth."""
        asked = {"target": self.target, "workflows": self.workflows, "nonce": self.nonce}
        return tuple(name for name, answer in asked.items() if answer is None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason not to believe a report."""

    check: str
    message: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The answer: accepted when nothing was refused. `run` is None unless the signature is good."""

    refusals: tuple[Refusal, ...]
    run: Run | None = None
    key: PublicKey | None = None

    @property
    def accepted(self) -> bool:
        return not self.refusals and self.run is not None


def verify_report(data: bytes, policy: Policy, now: datetime) -> Verification:
    """Check the signature of a report file, then the policy. `now` is an aware datetime. Never raises."""
    try:
        report = parse_report(data)
        key = check_signature(report, policy.trusted)
    except Refused as refusal:
        return Verification((Refusal("policy.signature", refusal.message),))
    try:
        run = run_of(report.payload)
    except Refused as refusal:
        return Verification((Refusal("policy.type", refusal.message),), key=key)
    refusals = (
        *_consistent(report.payload, run),
        *_complete(run),
        *_passed(run),
        *_fresh(run, policy, now),
        *_ours(run, policy),
        *_current(run, policy),
    )
    return Verification(refusals, run, key)


def _consistent(payload: bytes, run: Run) -> Iterator[Refusal]:
    wrong = contradictions(payload, run)
    if wrong:
        yield Refusal("policy.counts", f"the report contradicts itself: {', '.join(wrong)}")


def _complete(run: Run) -> Iterator[Refusal]:
    if plan_digest(result.route for result in run.routes) != run.plan_digest:
        yield Refusal("policy.plan", "the report does not hold the routes that were to be proven")
    if not run.workflows:
        yield Refusal("policy.workflows", "the report names no workflow")


def _passed(run: Run) -> Iterator[Refusal]:
    if run.verdict is not ChainVerdict.PASS:
        yield Refusal("policy.result", f"the run is {run.verdict}: {_first_reason(run)}")
    elif run.leftovers:
        first = run.leftovers[0]
        more = f" (and {len(run.leftovers) - 1} more)" if len(run.leftovers) > 1 else ""
        yield Refusal("policy.leftover", f"a {first.what} was left in {first.where}{more}: {first.reason}")
    elif result_of(run) != "PASSED":
        yield Refusal("policy.result", f"the run has warnings: {_first_reason(run)}")


def _first_reason(run: Run) -> str:
    for result in run.routes:
        broken = result.judgement.first_broken
        if broken is not None:
            return f"{result.route}: {broken.link} is broken ({broken.check})"
    failed = [check for check in run.all_checks if check.outcome != "passed"]
    if failed:
        return f"{failed[0].check}: {failed[0].detail}"
    counts = run.counts
    return f"{counts.links[Verdict.PROVEN]} of {counts.links_in_all} links proven on {counts.routes} routes"


def _fresh(run: Run, policy: Policy, now: datetime) -> Iterator[Refusal]:
    if run.started > now + CLOCK_SKEW or run.finished > now + CLOCK_SKEW:
        yield Refusal("policy.age", f"the report is of the future: {run.started:%Y-%m-%d %H:%M:%S} UTC")
    elif now - run.started > policy.max_age:
        yield Refusal(
            "policy.age",
            f"the report is stale: the run began {run.started:%Y-%m-%d %H:%M:%S} UTC,"
            f" {_age(now - run.started)} ago; {_age(policy.max_age)} are allowed",
        )
    if run.finished < run.started:
        yield Refusal("policy.age", "the run ended before it began")


def _ours(run: Run, policy: Policy) -> Iterator[Refusal]:
    if policy.target is not None and address_of(policy.target) != address_of(run.target):
        asked = redact_text(policy.target)
        yield Refusal("policy.target", f"the report is about {run.target}, not about {asked}")
    if policy.nonce is not None and policy.nonce != run.nonce:
        yield Refusal("policy.nonce", f"the report does not answer this challenge: its nonce is {run.nonce}")


def _current(run: Run, policy: Policy) -> Iterator[Refusal]:
    if policy.inventory_digest not in (None, run.inventory_digest):
        yield Refusal("policy.inventory", "the inventory is not the one of the run")
    if policy.workflows is None:
        return
    names = sorted(policy.workflows.keys() | run.workflows.keys())
    for name in names:
        now, then = policy.workflows.get(name), run.workflows.get(name)
        if now is None:
            yield Refusal("policy.workflows", f"the report is about a workflow that is not here: {name}")
        elif then is None:
            yield Refusal("policy.workflows", f"the report says nothing of the workflow {name}")
        elif now != then:
            yield Refusal("policy.workflows", f"the workflow {name} was changed after the run")


def address_of(url: str) -> tuple[str, str, int | None, str] | str:
    """What makes two URLs the same n8n: scheme, host, port and path, without a trailing slash."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return url
    return parts.scheme, parts.hostname or "", port, parts.path.rstrip("/")


def _age(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h" if hours < 72 else f"{hours // 24} days"
