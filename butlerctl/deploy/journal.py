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
from butlerctl.errors import BadDocument, BadInput
from butlerctl.inventory.operations import Route, route_of
from butlerctl.workflows.digest import canonical_digest

_WHAT = "journal of deployments"


def content_digest(document: Mapping[str, Any]) -> str:
    """That of everything but the settings: n8n keeps those that a body leaves out.

    Raises BadDocument as `canonical_digest`.
    """
    return canonical_digest({**document, "settings": {}})


class Step(StrEnum):
    """What is sent to n8n."""

    CREATE = "create"
    UPDATE = "update"
    PUBLISH = "publish"
    UNPUBLISH = "unpublish"
    SAVE = "save"
    """Save what a person had saved, while nothing is published: it stays theirs."""
    SEEN = "seen"
    """Nothing is sent: what an interrupted run had sent was found done."""


class Journal:
    """Held by one process. Use as a context manager; every method returns when its line is on the disk.

    A run that goes back does not stop for want of a disk: from `back` on, and with `needed=False` from the start, a
    line that cannot be written is kept in memory until the next one can, and `complaint` says why.
    """

    def __init__(self, path: Path, *, needed: bool = True) -> None:
        """
        Raises:
            TryAgain: another run holds it.
            BadInput: it cannot be opened, and it is needed.
            BadDocument: a line of it is not what was written.
        """
        self.path = path
        self._complaint = ""
        self._needed = needed
        self._pending: list[Mapping[str, Any]] = []
        self._log = self._open()
        self._entries: list[Mapping[str, Any]] = list(PastRun.read(path).entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._log is not None:
            self._log.close()

    @property
    def complaint(self) -> str:
        """Why the journal on the disk is not whole; empty when it is."""
        return self._complaint if self._pending or self._log is None else ""

    @property
    def past(self) -> PastRun:
        """The run so far, with what did not get to the disk."""
        return PastRun(self.path, tuple(self._entries))

    def begin(
        self, kind: str, snapshot: str, plan: Mapping[str, Any] | None, *, report_required: bool = False
    ) -> None:
        self._write("begin", kind=kind, snapshot=snapshot, plan=plan, report_required=report_required)

    def sending(
        self,
        step: Step,
        route: Route,
        workflow_id: str,
        document: Mapping[str, Any] | None = None,
        others: Iterable[str] = (),
    ) -> None:
        """`document` is what is to be saved, `others` are the workflows of its name: noted to know it again."""
        fields: dict[str, Any] = {"step": step, "route": str(route), "id": workflow_id}
        if document is not None:
            fields |= {"name": document.get("name"), "content": content_digest(document), "others": [*others]}
        self._write("sending", **fields)

    def done(self, step: Step, route: Route, workflow_id: str, version: str) -> None:
        """`version` is the one that was saved, or published."""
        self._write("done", step=step, route=str(route), id=workflow_id, version=version)

    def refused(self, step: Step, route: Route, workflow_id: str) -> None:
        """n8n said no. It may have stored the change all the same."""
        self._write("refused", step=step, route=str(route), id=workflow_id)

    def back(self, reason: str) -> None:
        """From here on the run goes back to its snapshot."""
        self._needed = False
        self._write("back", reason=reason)

    def kept(self, snapshot: str) -> None:
        """What people saved, and the way back is about to write over, is in this snapshot."""
        self._write("kept", snapshot=snapshot)

    def end(self, outcome: str) -> None:
        """Nothing is left to stop: that this line is missing is no failure of the run."""
        self._needed = False
        self._write("end", outcome=outcome)

    def _open(self) -> AppendLog | None:
        try:
            return AppendLog(self.path, what=_WHAT)
        except BadInput as error:
            self._miss(error)
            return None

    def _write(self, event: str, **fields: Any) -> None:
        entry = {"at": datetime.now(UTC).isoformat(), "event": event, **fields}
        self._entries.append(entry)
        self._pending.append(entry)
        try:
            self._write_pending()
        except BadInput as error:
            if (
                event == "sending" and self._needed
            ):  # not announced, so not sent; everything else has happened
                self._entries.remove(entry)
                self._pending.remove(entry)
            self._miss(error)

    def _write_pending(self) -> None:
        """In their order: what did not find room earlier comes first."""
        while self._pending and self._log is not None:
            self._log.append(self._pending[0])
            del self._pending[0]

    def _miss(self, error: BadInput) -> None:
        if self._needed:
            raise error
        self._complaint = error.message


@dataclass(frozen=True, slots=True)
class Sent:
    """A document that was sent to be saved.

    `id` is empty for a workflow that was to be created; `others` are those that had its name already.
    """

    step: Step
    route: Route
    id: str
    name: str
    content: str
    others: tuple[str, ...]


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
    def report_required(self) -> bool:
        """Was a report the condition of it?"""
        return bool(self.begun.get("report_required"))

    @property
    def safety(self) -> str:
        """The id of the snapshot that it took before it wrote over what people had saved; empty without one."""
        if self.begun.get("kind") == "rollback":
            return self.id
        return next((str(entry["snapshot"]) for entry in self.entries if entry["event"] == "kept"), "")

    @property
    def touched(self) -> set[Route]:
        """The routes for which it sent anything."""
        return {route_of(entry["route"]) for entry in self.entries if entry["event"] == "sending"}

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

    def saves(self) -> Iterator[Sent]:
        """Every document that it sent, with or without an answer."""
        for entry in self.entries:
            if entry["event"] == "sending" and "content" in entry:
                yield Sent(
                    Step(entry["step"]),
                    route_of(entry["route"]),
                    entry["id"],
                    str(entry["name"]),
                    entry["content"],
                    tuple(entry["others"]),
                )

    def with_done(self, steps: Iterable[tuple[Step, Route, str, str]]) -> PastRun:
        """As if its journal said of these, too, that they were done."""
        more = (
            {"event": "done", "step": step, "route": str(route), "id": workflow_id, "version": version}
            for step, route, workflow_id, version in steps
        )
        return PastRun(self.path, (*self.entries, *more))


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
