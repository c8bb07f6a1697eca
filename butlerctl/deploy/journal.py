"""The journal of one run that writes to n8n: every step is announced before it is sent and noted when it is done.

A run that dies anywhere leaves behind what it was about to do, so that the next one can finish it or go back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from butlerctl.appendlog import AppendLog, read_entries
from butlerctl.errors import BadDocument
from butlerctl.inventory.operations import Route, route_of

_WHAT = "journal of deployments"


class Step(StrEnum):
    """What is sent to n8n."""

    CREATE = "create"
    UPDATE = "update"
    PUBLISH = "publish"
    UNPUBLISH = "unpublish"
    SAVE = "save"
    """Save what a person had saved, while nothing is published: their draft, or other settings under it."""
    SEEN = "seen"
    """Nothing is sent: what an interrupted run had sent was found done."""


class Journal:
    """Held by one process. Use as a context manager; every method returns when its line is on the disk."""

    def __init__(self, path: Path) -> None:
        """Raises TryAgain when another run holds it."""
        self.path = path
        self._log = AppendLog(path, what=_WHAT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._log.close()

    def begin(self, kind: str, snapshot: str, plan: Mapping[str, Any] | None) -> None:
        self._write("begin", kind=kind, snapshot=snapshot, plan=plan)

    def sending(self, step: Step, route: Route, workflow_id: str) -> None:
        self._write("sending", step=step, route=str(route), id=workflow_id)

    def done(self, step: Step, route: Route, workflow_id: str, version: str) -> None:
        """`version` is the one that was saved, or published."""
        self._write("done", step=step, route=str(route), id=workflow_id, version=version)

    def refused(self, step: Step, route: Route, workflow_id: str) -> None:
        """n8n said no. It may have stored the change all the same."""
        self._write("refused", step=step, route=str(route), id=workflow_id)

    def back(self, reason: str) -> None:
        """From here on the run goes back to its snapshot."""
        self._write("back", reason=reason)

    def end(self, outcome: str) -> None:
        self._write("end", outcome=outcome)

    def _write(self, event: str, **fields: Any) -> None:
        self._log.append({"at": datetime.now(UTC).isoformat(), "event": event, **fields})


@dataclass(frozen=True, slots=True)
class PastRun:
    """What a journal tells of a run. `kind` is that of the snapshot which it took: `apply` or `rollback`."""

    path: Path
    entries: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, path: Path) -> PastRun:
        """Raises BadDocument when a whole line of it is not what was written."""
        found = read_entries(path, what=_WHAT)
        if found.damaged:
            raise BadDocument(
                f"{path}: damaged in line {found.damaged[0]}",
                hint="compare n8n with the newest snapshot, then move this file away",
            )
        return cls(path, found.entries)

    @property
    def id(self) -> str:
        """That of the snapshot which it took first."""
        return self.path.stem

    @property
    def at(self) -> datetime:
        return datetime.fromisoformat(f"{self.id.partition('Z')[0]}+00:00")

    @property
    def begun(self) -> Mapping[str, Any]:
        """The first entry; empty when the run died before it had one, and so before it wrote anything."""
        return self.entries[0] if self.entries else {}

    @property
    def finished(self) -> bool:
        return not self.entries or self.entries[-1]["event"] == "end"

    @property
    def goes_back(self) -> bool:
        """Is it a rollback, or a deployment that had turned into one?"""
        return self.begun.get("kind") == "rollback" or any(entry["event"] == "back" for entry in self.entries)

    @property
    def came_back(self) -> bool:
        """Did it turn back, all the way?"""
        return self.finished and any(entry["event"] == "back" for entry in self.entries)

    @property
    def in_flight(self) -> datetime | None:
        """When the last step was sent whose answer the run did not live to see."""
        steps = [entry for entry in self.entries if entry["event"] in ("sending", "done", "refused")]
        last = steps[-1] if steps else {}
        return datetime.fromisoformat(last["at"]) if last.get("event") == "sending" else None

    def done(self) -> Iterator[tuple[Step, Route, str, str]]:
        """Step, route, workflow id and version of everything that was done."""
        for entry in self.entries:
            if entry["event"] == "done":
                yield Step(entry["step"]), route_of(entry["route"]), entry["id"], entry["version"]

    def sent(self, step: Step) -> set[Route]:
        """The routes for which this step was sent, with or without an answer."""
        return {
            route_of(entry["route"])
            for entry in self.entries
            if entry["event"] == "sending" and entry["step"] == step
        }


@dataclass(frozen=True, slots=True)
class Memory:
    """What the journals tell of all runs on one n8n.

    `known` has the id of the workflow that was last deployed for a route. `written` has the ids of the versions that
    butlerctl saved, `published` of those that it published. `created` has (time, route, id) of the workflows that
    it made.
    """

    known: dict[Route, str] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    published: set[str] = field(default_factory=set)
    created: list[tuple[datetime, Route, str]] = field(default_factory=list)

    @classmethod
    def of(cls, runs: Iterable[PastRun]) -> Memory:
        memory = cls()
        for run in runs:
            for step, route, workflow_id, version in run.done():
                memory.known[route] = workflow_id
                memory.published.add(version)
                if step in (Step.CREATE, Step.UPDATE, Step.SEEN):
                    memory.written.add(version)
                if step is Step.CREATE:
                    memory.created.append((run.at, route, workflow_id))
        return memory

    def created_since(self, moment: datetime) -> dict[str, Route]:
        return {workflow_id: route for at, route, workflow_id in self.created if at >= moment}
