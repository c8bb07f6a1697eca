"""One round trip: ask the agent, confirm in Google, ask it to look, remove the object, confirm that it is gone.

It gathers evidence and judges nothing. Evidence comes first, the clean-up after it, and what becomes of the
clean-up is reported on its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import Any

from butlerctl.checks.canary import Canary, Request
from butlerctl.checks.cleanup import Cleanup, clean
from butlerctl.errors import ButlerctlError
from butlerctl.evidence import Document
from butlerctl.gateway.interface import AgentGateway, fresh_session
from butlerctl.google.interface import Sighting, SystemOfRecord
from butlerctl.inventory.operations import Route
from butlerctl.ledger import Asked, Ledger, Window
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.executions import LAG, find_by_id, find_by_nonce, find_latest
from butlerctl.progress import Watcher
from butlerctl.redaction import redact_text

_EXECUTION_ID = re.compile(r'\\?"execution\\?"\s*:\s*\\?"?([A-Za-z0-9-]+)')


@dataclass(frozen=True, slots=True)
class Parties:
    """Whom a round trip talks to. `workflow_ids` are those that n8n serves for the routes; `api` may be missing."""

    gateway: AgentGateway
    api: N8nApi | None
    workflow_ids: Mapping[Route, str]
    own: SystemOfRecord
    others: tuple[SystemOfRecord, ...]
    """The same domain of every other profile: where a stray object would lie."""
    stop: Event = field(default_factory=Event)
    """Set when the run is interrupted: nobody is asked for anything any more."""

    @property
    def everywhere(self) -> tuple[SystemOfRecord, ...]:
        return (self.own, *self.others)


@dataclass(frozen=True, slots=True)
class Trip:
    """What one round trip gathered, by route, and what became of its object."""

    requests: Mapping[Route, Request]
    evidence: Mapping[Route, tuple[Document, ...]]
    cleanup: Cleanup | None = None
    problems: tuple[ButlerctlError, ...] = ()
    """Failures of butlerctl's own means: what they kept from being seen is unproven."""


@dataclass(slots=True)
class _Notes:
    """The evidence of one route as it comes in, and the problems on the way."""

    documents: list[Document] = field(default_factory=list)
    problems: list[ButlerctlError] = field(default_factory=list)

    def see(self, sighting: Sighting) -> Sighting:
        self.documents += sighting.readbacks
        if sighting.problem:
            self.problems.append(sighting.problem)
        return sighting

    def fail(self, source: str, error: ButlerctlError) -> None:
        """A failure is written down, and the round trip goes on to its clean-up."""
        self.problems.append(error)
        self.documents.append({"kind": "log", "source": source, "lines": [redact_text(error.message)]})


def travel(
    parties: Parties, canary: Canary, wanted: Sequence[Route], ledger: Ledger, watcher: Watcher
) -> Trip:
    """Make the trip for the wanted routes of the canary's domain and profile.

    The ledger's line is on the disk before the agent is asked. Nothing is asked for when the search before it
    failed: an object that could not be found again must not be made.
    """
    add = Route(canary.add.operation, canary.profile)
    look = Route(canary.look.operation, canary.profile)
    requests = {
        route: request for route, request in ((add, canary.add), (look, canary.look)) if route in wanted
    }
    notes = {route: _Notes() for route in requests}
    cleanup = None
    if add in requests:
        cleanup = _add(parties, canary, add, notes, ledger, watcher, look=look if look in requests else None)
    elif look in requests:
        _look(parties, canary.look, look, notes[look], watcher)
    return Trip(
        requests=requests,
        evidence={route: tuple(note.documents) for route, note in notes.items()},
        cleanup=cleanup,
        problems=tuple(problem for note in notes.values() for problem in note.problems),
    )


def _add(
    parties: Parties,
    canary: Canary,
    add: Route,
    notes: Mapping[Route, _Notes],
    ledger: Ledger,
    watcher: Watcher,
    *,
    look: Route | None,
) -> Cleanup | None:
    note, window = notes[add], Window(canary.start, canary.end)
    watcher.stage(add, "looking before")
    before = _find(parties.everywhere, canary.nonce, window, note, when="before")
    if before.problem or before.found or parties.stop.is_set():
        return None
    asked = Asked(
        canary.nonce, canary.domain, canary.profile, parties.own.container, window, datetime.now(UTC), preflight=True
    )  # fmt: skip
    ledger.asked(asked)
    try:
        if _ask(parties, canary.add, add, note, watcher, nonce=canary.nonce):
            watcher.stage(add, "reading back")
            note.see(parties.own.find(canary.nonce, window, when="after", expected=_answered_well(note)))
            _find(parties.others, canary.nonce, window, note, when="after")
        if look is not None and not parties.stop.is_set():
            _look(parties, canary.look, look, notes[look], watcher)
    finally:
        watcher.stage(add, "removing")
        cleanup = clean(asked, parties.everywhere, ledger)
    if cleanup.gone:  # what stays is reported on its own; it does not change what was verified
        note.documents += cleanup.readbacks
    if cleanup.problem:
        note.problems.append(cleanup.problem)
    return cleanup


def _look(parties: Parties, request: Request, look: Route, note: _Notes, watcher: Watcher) -> None:
    note.see(parties.own.read(request.arguments, when="before"))
    if _ask(parties, request, look, note, watcher, nonce=""):
        watcher.stage(look, "reading back")
        note.see(parties.own.read(request.arguments, when="after"))


def _ask(
    parties: Parties, request: Request, route: Route, note: _Notes, watcher: Watcher, *, nonce: str
) -> bool:
    """Whether anybody was asked. Only then a search afterwards says something about the agent."""
    watcher.stage(route, "asking the agent")
    asked_at = datetime.now(UTC)
    try:
        turn = parties.gateway.ask(request.prompt, session=fresh_session())
    except ButlerctlError as error:
        note.fail("gateway", error)
        return False
    note.documents += [turn.transcript, *turn.exchanges]
    try:
        note.documents += _executions(parties, route, note, nonce, asked_at)
    except ButlerctlError as error:
        note.fail("n8n", error)
    return True


def _executions(
    parties: Parties, route: Route, note: _Notes, nonce: str, asked_at: datetime
) -> list[dict[str, Any]]:
    """What n8n recorded of this turn: by the id in the answer, by the nonce, or by the time."""
    api, workflow_id = parties.api, parties.workflow_ids.get(route)
    if api is None:
        return []
    named = _executions_named(note.documents)
    found = [find_by_id(api, execution_id) for execution_id in named]
    if not any(found) and workflow_id:
        wait = LAG if _calls_made(note.documents) else 0.0
        by_nonce = find_by_nonce(api, workflow_id, nonce, since=asked_at, wait=wait) if nonce else None
        found = [by_nonce or find_latest(api, workflow_id, since=asked_at, wait=0.0 if nonce else wait)]
    return [execution for execution in found if execution is not None]


def _find(
    systems: Sequence[SystemOfRecord], nonce: str, window: Window, note: _Notes, *, when: str
) -> Sighting:
    sighting = Sighting()
    for system in systems:
        sighting += note.see(system.find(nonce, window, when=when))
    return sighting


def _tool_results(documents: Sequence[Document]) -> list[str]:
    return [
        str(message.get("content") or "")
        for document in documents
        if document["kind"] == "transcript"
        for message in document["messages"]
        if message.get("role") == "tool"
    ]


def _executions_named(documents: Sequence[Document]) -> list[str]:
    found = [match[1] for text in _tool_results(documents) if (match := _EXECUTION_ID.search(text))]
    return list(dict.fromkeys(found))


def _calls_made(documents: Sequence[Document]) -> bool:
    return any(
        message.get("tool_calls")
        for document in documents
        if document["kind"] == "transcript"
        for message in document["messages"]
    )


def _answered_well(note: _Notes) -> bool:
    """Whether it is worth waiting for the object: some tool result says so. Only that; it proves nothing."""
    return any(
        '"ok":true' in text.replace(" ", "").replace("\\", "") for text in _tool_results(note.documents)
    )
