"""How a run tells what it is doing. Whoever shows it decides how; a run may have nobody watching."""

from __future__ import annotations

from typing import Protocol

from butlerctl.inventory.operations import Route
from butlerctl.judge.result import Judgement


class Watcher(Protocol):
    """Told about a run as it goes, from several threads at once."""

    def stage(self, route: Route, doing: str) -> None:
        """The route is at this stage now (`asking`, `reading back`)."""

    def judged(self, route: Route, judgement: Judgement, *, final: bool) -> None:
        """What the evidence so far says. `final`: all of it is in."""

    def interrupted(self) -> None:
        """Nothing more is begun; what the agent was asked for is removed before the run ends."""


class Nobody:
    """Nobody watches."""

    def stage(self, route: Route, doing: str) -> None:
        pass

    def judged(self, route: Route, judgement: Judgement, *, final: bool) -> None:
        pass

    def interrupted(self) -> None:
        pass
