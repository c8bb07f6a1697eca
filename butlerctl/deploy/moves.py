"""What a rollback would do to each workflow to bring back a snapshot. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from butlerctl.deploy.difference import differences
from butlerctl.deploy.planning import draft_of
from butlerctl.deploy.server import Document, Held, Server
from butlerctl.deploy.snapshot import Kept, Snapshot
from butlerctl.inventory.operations import Route
from butlerctl.n8n.hooks import Hook, hooks_of
from butlerctl.workflows.canonical import settings_of


class Way(StrEnum):
    """How a workflow gets back to what it was."""

    STAY = "unchanged"
    PUBLISH = "publish"
    """Publish the remembered version; what is saved stays."""
    EDIT = "edit"
    """Save name and settings or the overwritten draft of then, and publish the remembered version."""
    RESTORE = "restore"
    """The remembered version is gone from n8n's history: save its body from the snapshot, publish that."""
    REPUBLISH = "republish"
    """It is what n8n publishes, and its webhook is not there: publish the same version again."""
    RECREATE = "recreate"
    """The workflow is gone: make it from the snapshot."""
    UNPUBLISH = "unpublish"


@dataclass(frozen=True, slots=True)
class Move:
    """One workflow. `kept` is None for one that was created since: it is unpublished and stays.

    `release`: it serves a path that another one is to get back. `obstacle` says why it cannot work.
    """

    route: Route
    way: Way
    held: Held | None
    kept: Kept | None
    obstacle: str = ""
    release: bool = False
    saved: Document | None = field(default=None, repr=False)
    """For EDIT: what is to be saved."""

    @property
    def unseen(self) -> bool:
        """Must what is to be saved not be served? n8n publishes whatever is saved on a published workflow."""
        served = self.kept.held.published if self.kept else None
        return self.saved is not None and (served is None or bool(differences(self.saved, served)))

    def as_json(self) -> dict[str, Any]:
        return {
            "route": str(self.route),
            "id": self.held.id if self.held else "",
            "way": str(self.way),
            "version": self.kept.held.active_version if self.kept else "",
            "obstacle": self.obstacle,
        }


@dataclass(frozen=True, slots=True)
class Present:
    """n8n now. `created` maps the workflows that butlerctl made since the snapshot, `written` holds the ids of the
    versions that it saved, `versions` has (workflow, version) of the snapshot's versions that n8n still has.
    """

    server: Server
    created: Mapping[str, Route]
    written: Collection[str]
    versions: Collection[tuple[str, str]]


def moves_to(snapshot: Snapshot, present: Present) -> tuple[Move, ...]:
    """One for each workflow of the snapshot, and for each that was created since."""
    moves = [_move(kept, present) for kept in snapshot.kept]
    used = {move.held.id for move in moves if move.held}
    for workflow_id, route in present.created.items():
        held = present.server.workflow(workflow_id)
        if held is not None and workflow_id not in used:
            way = Way.UNPUBLISH if held.published is not None else Way.STAY
            moves.append(Move(route, way, held, None))
    return tuple(_with_paths(move, moves, present.server) for move in moves)


def _move(kept: Kept, present: Present) -> Move:
    held = _current(kept, present)
    if held is None:
        return Move(kept.route, Way.RECREATE, None, kept)
    if kept.held.published is None:
        return _unpublished(kept, held, present.written)
    saved = _to_save(kept, held, present.written)
    version = kept.held.active_version
    if saved is None and (held.id, held.active_version) == (kept.held.id, version):
        return Move(kept.route, Way.STAY, held, kept)
    if held.id != kept.held.id or (held.id, version) not in present.versions:
        return Move(kept.route, Way.STAY if restored(kept, held) else Way.RESTORE, held, kept)
    if saved is not None:
        return Move(kept.route, Way.EDIT, held, kept, saved=saved)
    return Move(kept.route, Way.PUBLISH, held, kept)


def _current(kept: Kept, present: Present) -> Held | None:
    """The workflow itself, else the one that butlerctl made in its place."""
    ids = [kept.held.id, *(each for each, route in present.created.items() if route == kept.route)]
    found = [held for each in ids if (held := present.server.workflow(each)) and not held.archived]
    return found[0] if found else None


def _unpublished(kept: Kept, held: Held, written: Collection[str]) -> Move:
    """It was not published: what butlerctl saved since gives way to what was saved then."""
    if held.version in written and differences(held.document, kept.held.document):
        return Move(kept.route, Way.EDIT, held, kept, saved=kept.held.document)
    way = Way.STAY if held.published is None else Way.UNPUBLISH
    return Move(kept.route, way, held, kept)


def _to_save(kept: Kept, held: Held, written: Collection[str]) -> Document | None:
    """What has to be saved beside the publishing: a draft that butlerctl overwrote, or name and settings alone."""
    if held.version in written and draft_of(kept.held, written):
        return kept.held.document
    if held.name == kept.held.name and settings_of(held.document) == settings_of(kept.held.document):
        return None
    nodes = held.document if draft_of(held, written) else kept.held.published
    return {**(nodes or {}), "name": kept.held.name, "settings": kept.held.document.get("settings")}


def restored(kept: Kept, held: Held | None) -> bool:
    """Is what n8n publishes what it published then, by its version, or where that is gone by its content?"""
    if held is None:
        return False
    if kept.held.published is None or held.published is None:
        return kept.held.published is None and held.published is None
    return not differences(held.published, kept.held.published)


def _with_paths(move: Move, moves: Iterable[Move], server: Server) -> Move:
    """The move with what stands between it and its paths."""
    others = [other for other in moves if other is not move]
    wanted = _wanted(move)
    release = bool(move.held and any(hook in move.held.hooks for other in others for hook in _wanted(other)))
    ours = {other.held.id for other in [move, *others] if other.held}
    for stranger in server.workflows:
        taken = sorted(stranger.keeps_from(wanted, move.held))
        if stranger.id not in ours and not stranger.archived and taken:
            method, path = taken[0]
            obstacle = f'{method} {path} is now served by "{stranger.name}" ({stranger.id})'
            return replace(move, obstacle=obstacle, release=release)
    return replace(move, release=release)


def _wanted(move: Move) -> set[Hook]:
    """The webhooks that it is to serve afterwards."""
    return set(hooks_of(move.kept.held.published)) if move.kept else set()
