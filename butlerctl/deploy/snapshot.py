"""Snapshots: what n8n held, in files with a digest. The way back."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from butlerctl.appendlog import sync_folder
from butlerctl.deploy.plan import digest_of
from butlerctl.deploy.server import Held
from butlerctl.errors import BadDocument, BadInput
from butlerctl.inventory.operations import Route, route_of
from butlerctl.n8n.hooks import Hook

FORMAT = "butlerctl.snapshot/1"
_ANOTHER = "choose another with --to"
# The owner's name and address, and data of runs: nothing that a way back needs.
_LEFT_OUT = ("shared", "pinData", "staticData", "meta")


class Kind(StrEnum):
    """Why a snapshot was taken. A rollback never goes to one that a rollback took by itself."""

    MANUAL = "snapshot"
    APPLY = "apply"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Kept:
    """One workflow of a snapshot. `answering` maps its served webhooks to whether they answered as they should."""

    route: Route
    held: Held
    answering: Mapping[Hook, bool]

    def as_json(self) -> dict[str, Any]:
        held = self.held
        return {
            "route": str(self.route),
            "id": held.id,
            "name": held.name,
            "version": held.version,
            "active_version": held.active_version,
            "saved": held.saved_digest,
            "published": held.published_digest,
            "tags": list(held.tags),
            "answering": {" ".join(hook): answers for hook, answers in self.answering.items()},
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`taken` is UTC. `report` names the signed report that is about exactly what was published, if there is one."""

    id: str
    kind: Kind
    taken: datetime
    target: str
    n8n: str
    routes: tuple[Route, ...]
    """All routes of the inventory then; one without an entry had no workflow."""
    kept: tuple[Kept, ...]
    report: Mapping[str, str] | None = None

    def as_json(self) -> dict[str, Any]:
        """The whole file, with its digest."""
        documents = {kept.route: {"document": _document(kept.held)} for kept in self.kept}
        content = self.summary() | {
            "workflows": [kept.as_json() | documents[kept.route] for kept in self.kept],
        }
        return content | {"digest": digest_of(content)}

    def summary(self) -> dict[str, Any]:
        """Everything but the bodies of the workflows."""
        return {
            "format": FORMAT,
            "id": self.id,
            "kind": str(self.kind),
            "taken": self.taken.isoformat(timespec="milliseconds"),
            "target": self.target,
            "n8n": self.n8n,
            "routes": [str(route) for route in self.routes],
            "report": dict(self.report) if self.report else None,
            "workflows": [kept.as_json() for kept in self.kept],
        }


def _document(held: Held) -> dict[str, Any]:
    return {key: value for key, value in held.document.items() if key not in _LEFT_OUT}


def new_id(taken: datetime) -> str:
    """Sorts by time; two of one second differ."""
    return f"{taken.astimezone(UTC):%Y%m%dT%H%M%S}.{taken.microsecond // 1000:03d}Z-{secrets.token_hex(2)}"


def moment_of(name: str) -> datetime | None:
    """When the snapshot or the run of this id began; None for what is no such id."""
    try:
        return datetime.strptime(name.partition("Z")[0], "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)
    except ValueError:
        return None


def write_snapshot(folder: Path, snapshot: Snapshot) -> Path:
    """The file (0600: a workflow may hold anything) and its name are on the disk when this returns.

    Raises:
        BadInput: it cannot be written.
    """
    path = folder / f"{snapshot.id}.json"
    partial = path.with_suffix(".partial")
    data = json.dumps(snapshot.as_json(), indent=1).encode()
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        sync_folder(folder)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise BadInput(
            f"{path}: the snapshot cannot be written: {error.strerror}",
            hint="nothing is deployed without a snapshot; make room or choose another --state-dir",
        ) from error
    return path


def snapshot_files(folder: Path) -> list[Path]:
    """The newest first."""
    return sorted(folder.glob("*.json"), reverse=True)


def read_snapshot(path: Path) -> Snapshot:
    """
    Raises:
        BadDocument: it is damaged, or no snapshot.
        BadInput: it cannot be read.
    """
    try:
        document = json.loads(path.read_bytes())
        content = {key: value for key, value in document.items() if key != "digest"}
        if document["format"] == FORMAT and document["digest"] == digest_of(content):
            return _snapshot(document)
        what = "the snapshot is damaged" if document["format"] == FORMAT else "is no snapshot"
    except OSError as error:
        raise BadInput(f"{path}: the snapshot cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadDocument(f"{path}: is no snapshot", hint=_ANOTHER) from error
    raise BadDocument(f"{path}: {what}", hint=_ANOTHER)


def _snapshot(document: Mapping[str, Any]) -> Snapshot:
    return Snapshot(
        id=document["id"],
        kind=Kind(document["kind"]),
        taken=datetime.fromisoformat(document["taken"]),
        target=document["target"],
        n8n=document["n8n"],
        routes=tuple(map(route_of, document["routes"])),
        kept=tuple(map(_kept, document["workflows"])),
        report=document["report"],
    )


def _kept(entry: Mapping[str, Any]) -> Kept:
    answering = {tuple(hook.split(" ", 1)): answers for hook, answers in entry["answering"].items()}
    return Kept(route_of(entry["route"]), Held(entry["document"]), answering)
