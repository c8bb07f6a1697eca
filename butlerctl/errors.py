"""Every error that butlerctl raises on purpose, and the exit codes of the whole program.

    ButlerctlError
    ├── Refused           1   a report that is invalid, unsigned or fails its policy
    ├── DeployFailed      1   a step of a deployment did not lead where it should
    ├── UsageProblem      2   the command line does not say what to do
    ├── NothingChecked    3   nothing was checked, or the evidence does not decide
    │   └── GatewayRefused
    ├── Leftover          4   something remains that a person must look at
    ├── TryAgain         75   quota, 5xx, unreachable; nothing was written yet
    │   └── Unreachable
    ├── NotPermitted     77   a credential of butlerctl itself was refused
    └── BadInput         78   inventory, configuration or an input file
        ├── InventoryError
        ├── SecretMissing
        ├── BadDocument
        ├── NotOffered
        └── N8nRefused

Only the command line's entry point turns one into an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes, frozen. New meanings get new numbers."""

    PROVEN = 0
    BROKEN = 1
    USAGE = 2
    NOT_PROVEN = 3
    LEFTOVER = 4
    BUG = 70
    TRY_AGAIN = 75
    NOT_PERMITTED = 77
    BAD_INPUT = 78
    INTERRUPTED = 130


# When several apply, the first of these that holds.
PRECEDENCE = (
    ExitCode.BUG,
    ExitCode.BAD_INPUT,
    ExitCode.NOT_PERMITTED,
    ExitCode.BROKEN,
    ExitCode.LEFTOVER,
    ExitCode.TRY_AGAIN,
    ExitCode.NOT_PROVEN,
    ExitCode.PROVEN,
)


def combine(codes: Iterable[ExitCode]) -> ExitCode:
    """The one exit code for several outcomes. No outcome at all is NOT_PROVEN, never 0."""
    found = set(codes)
    return next((code for code in PRECEDENCE if code in found), ExitCode.NOT_PROVEN)


class ButlerctlError(Exception):
    """One clear line (what, where, what would be right) and an exit code.

    `hint` is the operator's next step. Neither may ever hold a secret.
    """

    exit_code = ExitCode.BUG

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(ButlerctlError):
    """A report that is invalid, unsigned or fails its policy."""

    exit_code = ExitCode.BROKEN


class DeployFailed(ButlerctlError):
    """A step of a deployment did not lead where it should; the message says what n8n holds or answers instead."""

    exit_code = ExitCode.BROKEN


class UsageProblem(ButlerctlError):
    exit_code = ExitCode.USAGE


class NothingChecked(ButlerctlError):
    exit_code = ExitCode.NOT_PROVEN


class GatewayRefused(NothingChecked):
    """The agent gateway answered a request with an error of its own: `code` is its word for it.

    `retry_after` is the gateway's own wish in seconds, where it has one.
    """

    def __init__(self, message: str, *, code: str, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.retry_after = retry_after


class Leftover(ButlerctlError):
    exit_code = ExitCode.LEFTOVER


class TryAgain(ButlerctlError):
    exit_code = ExitCode.TRY_AGAIN


class Unreachable(TryAgain):
    """A host of the inventory did not answer, or something else answered in its place."""


class NotPermitted(ButlerctlError):
    exit_code = ExitCode.NOT_PERMITTED


class BadInput(ButlerctlError):
    exit_code = ExitCode.BAD_INPUT


class InventoryError(BadInput):
    """`inventory.yaml` is wrong; the message names file, line and key."""


class SecretMissing(BadInput):
    """A reference of the inventory leads nowhere; the message names the reference, never a value."""


class BadDocument(BadInput):
    """A bundle, transcript or export that is not what its name says."""


class NotOffered(BadInput):
    """This version of n8n does not have what is needed: no key and no second try helps."""


class N8nRefused(BadInput):
    """n8n refused a write: `status` is that of its answer, the message holds n8n's own words."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
