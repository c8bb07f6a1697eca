"""One misbehaviour: what goes wrong, on which side, and what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from butlerctl.lab.conformance.script import Answer, Ask
from butlerctl.lab.conformance.servers import Behaviour, succeed


class Right(StrEnum):
    """What ought to become of the call, by the rules of strict function calling."""

    RUNS = "runs"
    REFUSED = "is refused"
    NO_CALL = "is no call"
    FAILS = "is told as a failure"


@dataclass(frozen=True, slots=True)
class Case:
    """`answers` builds the model's answers for the question; then it says that all is done, unless `loops`.

    `ask` is what the butler was asked for, `wanted` the calls that would be right when any are, `seconds` the time
    that the turn may take. `plugin` names the spoilt copy of the plugin (`spoilt.SPOILT`) with which it runs; empty for
    the shipped one.
    """

    id: str
    group: str
    title: str
    right: Right
    ask: Ask
    answers: Callable[[Ask], Sequence[Answer]]
    wanted: Callable[[Ask], Sequence[Mapping[str, Any]]] = lambda ask: (ask.arguments,)
    webhook: Behaviour = succeed
    loops: bool = False
    seconds: float = 30
    plugin: str = ""
