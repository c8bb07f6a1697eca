"""What butlerctl cannot know of a version of n8n, however healthy it is. Pure.

Seen on the four versions that the contract was held to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TESTED = ("1.123.81", "2.27.4", "2.30.8", "2.41.1")
"""The versions of n8n that ran the contract tests or the matrix of households."""

_NUMBERS = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Limit:
    """`check` is what stays open, `why` says what n8n does not tell."""

    check: str
    why: str


# From a version on, below another one. Between 2.30 and 2.41 nobody looked when the change came.
_TABLE: tuple[tuple[tuple[int, int], tuple[int, int], tuple[Limit, ...]], ...] = (
    (
        (1, 0),
        (2, 0),
        (
            Limit(
                "credential.exists",
                "n8n 1 lists no credentials: whether those that the workflows name exist, and are of the right type,"
                " only a call shows",
            ),
            Limit(
                "active.executed_version",
                "n8n 1 does not say which version of a workflow an execution ran: the nodes that ran are held against what"
                " is published, and a parameter that this leaves out is not seen there",
            ),
        ),
    ),
    (
        (2, 0),
        (2, 31),
        (
            Limit(
                "active.executed_version",
                "this n8n names in an execution the version that was saved, not the one that ran: the nodes that ran are"
                " held against what is published, and a parameter that this leaves out is not seen there",
            ),
        ),
    ),
    (
        (2, 31),
        (3, 0),
        (
            Limit(
                "active.settings",
                "this n8n takes settings.binaryMode and settings.credentialResolverId and does not return them:"
                " whether they are as in the file is not known",
            ),
        ),
    ),
)


def limits_of(version: str | None) -> tuple[Limit, ...]:
    """What stays open on this version; None where n8n does not say which it is."""
    numbers = _numbers(version or "")
    if numbers is None:
        return (Limit("n8n.version", "n8n does not say its version: what it cannot tell is not known"),)
    known = tuple(limit for since, below, limits in _TABLE if since <= numbers < below for limit in limits)
    if numbers in map(_numbers, TESTED):
        return known
    untested = f"n8n {version} was never held to the contract, only {', '.join(TESTED)}"
    return (*known, Limit("n8n.version", untested))


def _numbers(version: str) -> tuple[int, int] | None:
    """Major and minor: within a minor version n8n mends faults and changes nothing else."""
    found = _NUMBERS.match(version)
    return (int(found[1]), int(found[2])) if found else None
