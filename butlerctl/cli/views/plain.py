"""One line a route, as each is decided: for pipes, logs and CI."""

from __future__ import annotations

import sys
import threading
from typing import Self, TextIO

from butlerctl.cli.documents import tell
from butlerctl.inventory.operations import Route
from butlerctl.judge.result import Judgement, Verdict

CLEANING = "interrupted: what the agent was asked for is removed first"


class PlainView:
    """Writes to stderr; the result itself goes to stdout."""

    def __init__(self, routes: tuple[Route, ...], out: TextIO | None = None) -> None:
        self._width = max((len(str(route)) for route in routes), default=0)
        self._out = out or sys.stderr
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def stage(self, route: Route, doing: str) -> None:
        pass

    def judged(self, route: Route, judgement: Judgement, *, final: bool) -> None:
        if final:
            with self._lock:
                tell(f"{route!s:<{self._width}}  {summary_of(judgement)}", self._out)

    def interrupted(self) -> None:
        tell(CLEANING, self._out)


def summary_of(judgement: Judgement) -> str:
    """`nine links proven`, or what stands in the way."""
    if judgement.first_broken:
        return f"broken at {judgement.first_broken.link} ({judgement.first_broken.check})"
    unproven = [link.link for link in judgement.links if link.verdict is not Verdict.PROVEN]
    return f"not proven: {', '.join(unproven)}" if unproven else "nine links proven"
