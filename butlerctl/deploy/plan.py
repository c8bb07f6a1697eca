"""What a deployment would do, workflow by workflow: file against saved against published version. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from butlerctl.deploy.difference import Change, differences, moved
from butlerctl.deploy.journal import Memory
from butlerctl.deploy.server import Document, Held, Member, Server, hooks_of
from butlerctl.errors import BadDocument
from butlerctl.inventory.operations import Route, route_of
from butlerctl.workflows.digest import canonical_digest

FORMAT = "butlerctl.plan/1"


class Status(StrEnum):
    """What is to be done with one workflow, or what keeps it from being done."""

    CREATE = "create"
    UPDATE = "update"
    PUBLISH = "publish"
    """The saved version is the file already; n8n serves another one."""
    ACTIVATE = "activate"
    """The saved version is the file already; nothing is published."""
    UNCHANGED = "unchanged"
    DRAFT = "draft"
    """Somebody saved changes in n8n and did not publish them."""
    CONFLICT = "conflict"
    """Another workflow serves the path, or several could be this one."""


WRITES = frozenset({Status.CREATE, Status.UPDATE, Status.PUBLISH, Status.ACTIVATE})


@dataclass(frozen=True, slots=True)
class State:
    """What n8n holds of one workflow. Empty digests: nothing is there, nothing is published."""

    version: str = ""
    active_version: str = ""
    saved: str = ""
    published: str = ""

    @classmethod
    def of(cls, held: Held | None) -> State:
        if held is None:
            return cls()
        return cls(held.version, held.active_version, held.saved_digest, held.published_digest)

    def as_json(self) -> dict[str, str]:
        return {
            "version": self.version,
            "active_version": self.active_version,
            "saved": self.saved,
            "published": self.published,
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One workflow of the set. `digest` is that of the file as it would be deployed.

    `changes` lead from what n8n serves (from what is saved, where nothing is published) to the file, `draft` from
    what it serves to what a person saved. `release`: it serves a path that another workflow of the set is to have.
    """

    route: Route
    name: str
    digest: str
    status: Status
    id: str = ""
    before: State = State()
    changes: tuple[Change, ...] = ()
    draft: tuple[Change, ...] = ()
    release: bool = False
    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        return self.status in WRITES

    def as_json(self) -> dict[str, Any]:
        return {
            "route": str(self.route),
            "file": self.route.workflow_file,
            "name": self.name,
            "digest": self.digest,
            "status": str(self.status),
            "id": self.id,
            "before": self.before.as_json(),
            "changes": [change.as_json() for change in self.changes],
            "draft": [change.as_json() for change in self.draft],
            "release": self.release,
            "refusals": list(self.refusals),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole set. `target` is the URL of n8n."""

    target: str
    inventory_digest: str
    overwrite_drafts: bool
    entries: tuple[Entry, ...]

    @property
    def in_sync(self) -> bool:
        """File, saved and published version are one everywhere, and nothing speaks against it."""
        return all(entry.status is Status.UNCHANGED and not entry.refusals for entry in self.entries)

    @property
    def to_write(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.writes)

    @property
    def refusals(self) -> tuple[str, ...]:
        return tuple(f"{entry.route}: {text}" for entry in self.entries for text in entry.refusals)

    @property
    def counts(self) -> Counter[Status]:
        return Counter(entry.status for entry in self.entries)

    def as_json(self) -> dict[str, Any]:
        content = {
            "format": FORMAT,
            "target": self.target,
            "inventory": self.inventory_digest,
            "overwrite_drafts": self.overwrite_drafts,
            "in_sync": self.in_sync,
            "entries": [entry.as_json() for entry in self.entries],
        }
        return content | {"digest": digest_of(content)}


def digest_of(content: Mapping[str, Any]) -> str:
    """The sha256 of a JSON document, in lower-case hex."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Question:
    """What a plan is made from: the files as they would be deployed, and what n8n holds for them.

    `objections` says what speaks against deploying a route, `memory` what butlerctl itself did here before.
    """

    target: str
    inventory_digest: str
    exports: Mapping[Route, Document]
    server: Server
    members: Mapping[Route, Member]
    objections: Mapping[Route, tuple[str, ...]] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    overwrite_drafts: bool = False


def make_plan(question: Question) -> Plan:
    """Raises BadDocument for a workflow that has no canonical form."""
    return Plan(
        question.target,
        question.inventory_digest,
        question.overwrite_drafts,
        tuple(_entry(question, route) for route in question.exports),
    )


def _entry(question: Question, route: Route) -> Entry:
    export, member = question.exports[route], question.members[route]
    held = member.held
    conflicts = _conflicts(question, route)
    status = _status(export, held, question.memory.written, overwrite=question.overwrite_drafts)
    served = (held.published or held.document) if held else {}
    changes = differences(served, export) if held else ()
    stays = status is Status.DRAFT and changes
    return Entry(
        route=route,
        name=str(export.get("name", "")),
        digest=canonical_digest(export),
        status=Status.CONFLICT if conflicts else status,
        id=held.id if held else "",
        before=State.of(held),
        changes=changes,
        draft=draft_of(held, question.memory.written) if held else (),
        release=held is not None and any(hook in held.hooks for hook in _hooks_of_others(question, route)),
        refusals=(
            *conflicts,
            *question.objections.get(route, ()),
            *([_draft_refusal(held)] if stays and held else []),
        ),
        notes=tuple(_notes(question, route, changes)),
    )


def _status(export: Document, held: Held | None, written: Collection[str], *, overwrite: bool) -> Status:
    if held is None:
        return Status.CREATE
    saved_fits = not differences(held.document, export)
    if held.published is None:
        return Status.ACTIVATE if saved_fits else Status.UPDATE
    published_fits = not differences(held.published, export)
    if published_fits and (saved_fits or held.version in written):
        return Status.UNCHANGED
    if saved_fits:
        return Status.PUBLISH
    if draft_of(held, written) and not overwrite:
        return Status.DRAFT
    return Status.UPDATE


def draft_of(held: Held, written: Collection[str]) -> tuple[Change, ...]:
    """The changes that a person saved and did not publish. What butlerctl saved and rolled back is no draft."""
    if held.published is None or held.version in written:
        return ()
    return differences(held.published, held.document)


def _conflicts(question: Question, route: Route) -> list[str]:
    member, wanted = question.members[route], hooks_of(question.exports[route])
    found = []
    if member.held is not None:
        found += [
            f"n8n has one workflow ({member.held.id}) for it and for {other}"
            for other, another in question.members.items()
            if other != route and another.held is member.held
        ]
    if member.ambiguous:
        ids = ", ".join(twin.id for twin in member.twins if not twin.archived)
        found.append(f"several workflows have its name ({ids}), and nothing tells which is meant")
    for other, export in question.exports.items():
        shared = sorted(wanted.keys() & hooks_of(export).keys()) if other != route else []
        found += [f"{method} {path} is also that of {other}" for method, path in shared]
    for stranger in _strangers(question):
        found += [
            f'{method} {path} is served by another workflow: "{stranger.name}" ({stranger.id})'
            for method, path in sorted(wanted.keys() & stranger.hooks.keys())
        ]
    return found


def _strangers(question: Question) -> Iterable[Held]:
    ours = {member.held.id for member in question.members.values() if member.held}
    return (held for held in question.server.workflows if held.id not in ours and not held.archived)


def _hooks_of_others(question: Question, route: Route) -> Iterable[tuple[str, str]]:
    return (hook for other, export in question.exports.items() if other != route for hook in hooks_of(export))


def _draft_refusal(held: Held) -> str:
    return f"n8n holds an unpublished draft (version {held.version}) that would be overwritten"


def _notes(question: Question, route: Route, changes: Collection[Change]) -> Iterable[str]:
    export, member = question.exports[route], question.members[route]
    for twin in member.twins:
        state = "archived" if twin.archived else "active" if twin.published else "inactive"
        yield f"another workflow has the same name: {twin.id} ({state})"
    for stranger in _strangers(question):
        if hooks_of(stranger.document).keys() & hooks_of(export).keys() - stranger.hooks.keys():
            yield f'saved with the same path, not published: "{stranger.name}" ({stranger.id})'
    held = member.held
    if held is None or held.published is None:
        return
    if changes and route in question.memory.known and held.active_version not in question.memory.published:
        yield f"somebody published version {held.active_version} since butlerctl last deployed here"
    if not changes and (number := moved(held.published, export)):
        yield f"{number} node{'s stand' if number > 1 else ' stands'} elsewhere on the canvas, nothing else differs"
    if not changes and held.version in question.memory.written and differences(held.document, export):
        yield f"the editor still shows a version that was rolled back ({held.version})"


def read_plan(document: Any) -> Plan:
    """A plan from its JSON form. What the entries say of changes is for people and not read back.

    Raises:
        BadDocument: it is no plan, or not as it was written.
    """
    try:
        content = {key: value for key, value in document.items() if key != "digest"}
        if document["format"] != FORMAT:
            raise BadDocument(f"the plan's format is {document['format']!r}, expected is {FORMAT!r}")
        if document["digest"] != digest_of(content):
            raise BadDocument(
                "the plan is not as it was written", hint="make a new one with `butlerctl plan`"
            )
        return Plan(
            document["target"],
            document["inventory"],
            document["overwrite_drafts"],
            tuple(_read_entry(entry) for entry in document["entries"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadDocument(
            "this is no plan of butlerctl", hint="make one with `butlerctl plan --out FILE`"
        ) from error


def _read_entry(entry: Mapping[str, Any]) -> Entry:
    return Entry(
        route=route_of(entry["route"]),
        name=entry["name"],
        digest=entry["digest"],
        status=Status(entry["status"]),
        id=entry["id"],
        before=State(**entry["before"]),
        release=entry["release"],
        refusals=tuple(entry["refusals"]),
    )


def outdated(planned: Plan, now: Plan) -> list[str]:
    """What is no longer as it was when the plan was made; empty when the plan still holds."""
    found = [
        f"the {what} is another one"
        for what, then, today in (
            ("target", planned.target, now.target),
            ("inventory", planned.inventory_digest, now.inventory_digest),
        )
        if then != today
    ]
    if [entry.route for entry in planned.entries] != [entry.route for entry in now.entries]:
        return [*found, "the inventory has other routes"]
    for then, today in zip(planned.entries, now.entries, strict=True):
        found += [f"{then.route}: {text}" for text in _entry_outdated(then, today)]
    return found


def _entry_outdated(then: Entry, today: Entry) -> list[str]:
    if then.digest != today.digest:
        return ["the file changed, or a value of the inventory that is put into it"]
    if then.id != today.id:
        return [f"the workflow in n8n is {today.id or 'gone'}, it was {then.id or 'not there'}"]
    if then.before != today.before:
        return ["n8n holds another version"]
    if (then.status, then.release) != (today.status, today.release):
        return [f"now it would be {today.status}, planned was {then.status}"]
    return []
