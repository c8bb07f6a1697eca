"""Routes × links as a live table, for a terminal."""

from __future__ import annotations

import threading
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from butlerctl.cli.views.plain import CLEANING
from butlerctl.inventory.operations import Route
from butlerctl.judge.result import LINKS, Judgement, Verdict

MARKS = {
    Verdict.PROVEN: ("✓", "green"),
    Verdict.BROKEN: ("✗", "bold red"),
    Verdict.UNPROVEN: ("?", "yellow"),
    Verdict.NOT_REACHED: ("·", "dim"),
}


_REMARK = 24


class MatrixView:
    """A row a route, a column a link. A link that has not been looked at yet is blank."""

    def __init__(self, routes: tuple[Route, ...], console: Console | None = None) -> None:
        self._routes = routes
        self._stages = dict.fromkeys(routes, "")
        self._judgements: dict[Route, Judgement] = {}
        self._final: set[Route] = set()
        self._lock = threading.Lock()
        self._console = console or Console(stderr=True)
        self._live = Live(get_renderable=self._table, console=self._console, refresh_per_second=8)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._live.__exit__(None, None, None)

    def stage(self, route: Route, doing: str) -> None:
        with self._lock:
            self._stages[route] = doing

    def judged(self, route: Route, judgement: Judgement, *, final: bool) -> None:
        with self._lock:
            self._judgements[route] = judgement
            if final:
                self._final.add(route)

    def interrupted(self) -> None:
        self._console.print(CLEANING)

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
        width = max(map(len, map(str, self._routes)))
        headings = _headings(self._console.width - width)
        table.add_column("route", no_wrap=True)
        for heading in headings:
            table.add_column(heading, justify="center", no_wrap=True)
        used = width + sum(map(len, headings)) + len(headings) + 1
        table.add_column("", no_wrap=True, max_width=max(1, self._console.width - used))
        with self._lock:
            for route in self._routes:
                table.add_row(str(route), *self._cells(route), Text(self._remark(route), style="dim"))
        return table

    def _cells(self, route: Route) -> list[Text]:
        judgement = self._judgements.get(route)
        if judgement is None:
            return [Text("")] * len(LINKS)
        return [_mark(link.verdict, final=route in self._final) for link in judgement.links]

    def _remark(self, route: Route) -> str:
        if route not in self._final:
            return self._stages[route]
        first = self._judgements[route].first_broken
        return first.check if first else ""


def _headings(room: int) -> list[str]:
    """The names of the links, shortened where they and a remark have no room (in characters)."""
    whole = sum(map(len, LINKS)) + len(LINKS) + _REMARK
    return list(LINKS) if whole <= room else [link[:4] for link in LINKS]


def _mark(verdict: Verdict, *, final: bool) -> Text:
    if not final and verdict in {Verdict.UNPROVEN, Verdict.NOT_REACHED}:
        return Text("")
    mark, style = MARKS[verdict]
    return Text(mark, style=style)
