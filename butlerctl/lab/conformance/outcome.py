"""What a gateway made of one misbehaviour, from what arrived at the webhooks and what the transcript says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from butlerctl.gateway.operator import Run
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.lab.conformance.case import Case, Right

Documents = Sequence[Mapping[str, Any]]


class Outcome(StrEnum):
    """`RAN` and its kin: a webhook was called. The others: none was."""

    RAN = "runs"
    RAN_CHANGED = "runs with other arguments"
    RAN_PARTLY = "runs a part of the calls"
    RAN_TOO_OFTEN = "runs again and again"
    REFUSED = "is refused"
    LOST = "is dropped without a word"
    FAILED = "ends the turn with an error"
    TEXT = "stays text"


_RAN = frozenset({Outcome.RAN, Outcome.RAN_CHANGED, Outcome.RAN_PARTLY, Outcome.RAN_TOO_OFTEN})


class Verdict(StrEnum):
    """How that compares with what is right: `HARMFUL` ran what must not run, or lost or changed a good call."""

    RIGHT = "right"
    HARMLESS = "harmless"
    HARMFUL = "harmful"


@dataclass(frozen=True, slots=True)
class Result:
    """What a gateway makes of one case, as it is recorded for its version.

    `by` is who refused a call or told its failure. `requests` counts what reached the webhooks; for a loop, whose count
    depends on the machine's speed, it is `several`.
    """

    case: Case
    outcome: Outcome
    by: str
    requests: str
    verdict: Verdict

    def as_json(self) -> dict[str, str]:
        return {
            "case": self.case.id,
            "group": self.case.group,
            "sent": self.case.title,
            "right": str(self.case.right),
            "outcome": str(self.outcome),
            "by": self.by,
            "requests": self.requests,
            "verdict": str(self.verdict),
        }


@dataclass(frozen=True, slots=True)
class Observed:
    """One case as it went.

    `messages` is the gateway's transcript, `exchanges` what the webhooks saw, `wire` what passed between gateway and
    model, `offered` the tools that the agent had.
    """

    run: Run
    messages: Documents
    exchanges: Documents
    wire: Documents
    result: Result
    offered: tuple[str, ...] = tuple(OPERATION_OF_TOOL)

    @property
    def case(self) -> Case:
        return self.result.case


def observe(
    case: Case,
    run: Run,
    messages: Documents,
    exchanges: Documents,
    wire: Documents,
    offered: tuple[str, ...] = tuple(OPERATION_OF_TOOL),
) -> Observed:
    sent = sorted(map(_canonical, map(_arguments, exchanges)))
    wanted = sorted(map(_canonical, case.wanted(case.ask)))
    outcome = _ran(sent, wanted) if sent else _did_not_run(case, run, messages)
    by = _refusal(messages)
    verdict = _verdict(case.right, outcome, refused=by != "")
    requests = "several" if case.loops and len(exchanges) > 1 else str(len(exchanges))
    return Observed(run, messages, exchanges, wire, Result(case, outcome, by, requests, verdict), offered)


def _ran(sent: list[str], wanted: list[str]) -> Outcome:
    if sent == wanted:
        return Outcome.RAN
    if set(sent) == set(wanted) and len(sent) > len(wanted):
        return Outcome.RAN_TOO_OFTEN
    return (
        Outcome.RAN_PARTLY if set(sent) < set(wanted) or (set(sent) == set(wanted)) else Outcome.RAN_CHANGED
    )


def _did_not_run(case: Case, run: Run, messages: Iterable[Mapping[str, Any]]) -> Outcome:
    if run.status != "ok":
        return Outcome.FAILED
    if _refusal(messages):
        return Outcome.REFUSED
    return Outcome.TEXT if case.right is Right.NO_CALL else Outcome.LOST


def _verdict(right: Right, outcome: Outcome, *, refused: bool) -> Verdict:
    if right is Right.RUNS:
        return Verdict.RIGHT if outcome is Outcome.RAN else Verdict.HARMFUL
    if right is Right.FAILS:
        honest = outcome in {Outcome.FAILED, Outcome.REFUSED} or (outcome is Outcome.RAN and refused)
        return Verdict.RIGHT if honest else Verdict.HARMFUL
    if outcome in _RAN:
        return Verdict.HARMFUL
    return Verdict.RIGHT if right is Right.NO_CALL or outcome is Outcome.REFUSED else Verdict.HARMLESS


def _refusal(messages: Iterable[Mapping[str, Any]]) -> str:
    """Who refused a call or told its failure: `gateway` or `plugin`; empty when nobody did."""
    for message in messages:
        if message.get("role") == "tool" and message.get("is_error"):
            return "plugin" if '"boundary"' in str(message.get("content")) else "gateway"
    return ""


def _arguments(exchange: Mapping[str, Any]) -> Any:
    """The arguments that arrived: the body, and the profile from the path."""
    request = exchange["request"]
    body = request["body"]
    profile = str(request["url"]).rpartition("/")[2]
    return {"profile": profile, **body} if isinstance(body, Mapping) else body


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
