"""A plan: what is to be done with each workflow, as it is printed, kept in a file and read back. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from butlerctl.deploy.difference import Change
from butlerctl.deploy.server import Held
from butlerctl.errors import BadDocument
from butlerctl.inventory.operations import Route, route_of

FORMAT = "butlerctl.plan/1"
MAKE_ONE = "make one with `butlerctl plan --out FILE`"


class Status(StrEnum):
    """What is to be done with one workflow, or what keeps it from being done."""

    CREATE = "create"
    UPDATE = "update"
    PUBLISH = "publish"
    """The saved version is the file already; n8n serves another one."""
    ACTIVATE = "activate"
    """The saved version is the file already; nothing is published."""
    SAVE = "save"
    """The file is served; what is saved gives way: a version that butlerctl wrote and took back, or a draft that may be
    overwritten.
    """
    SILENT = "silent"
    """The file is served by n8n's own word, and its webhook is not there."""
    UNCHANGED = "unchanged"
    DRAFT = "draft"
    """Somebody saved changes in n8n and did not publish them."""
    CONFLICT = "conflict"
    """Another workflow serves the path, or several could be this one."""


WRITES = frozenset(Status) - {Status.UNCHANGED, Status.DRAFT, Status.CONFLICT}


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
    what it serves (from the file, where nothing is published) to what a person saved. `release`: it serves a path that another workflow of the set is to have.
    `silence` is what its webhook answered in place of being there, `unheard` why nobody knows whether it is there.
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
    silence: str = ""
    unheard: str = ""
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
            "silence": self.silence,
            "unheard": self.unheard,
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
        """File, saved and published version are one everywhere, n8n listens, and nothing speaks against it."""
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


def read_plan(document: Any) -> Plan:
    """A plan from its JSON form. What the entries say of changes is for people and not read back.

    Raises:
        BadDocument: it is no plan, or not as it was written.
    """
    try:
        content = {key: value for key, value in document.items() if key != "digest"}
        if document["format"] != FORMAT:
            raise BadDocument(
                f"this is no plan: its format is {document['format']!r}, expected is {FORMAT!r}",
                hint=MAKE_ONE,
            )
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
        raise BadDocument("this is no plan of butlerctl", hint=MAKE_ONE) from error


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
