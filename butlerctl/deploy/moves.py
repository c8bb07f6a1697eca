"""What a rollback would do to each workflow to bring back a snapshot. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from butlerctl.deploy.difference import Change, differences
from butlerctl.deploy.lacks import (
    differing_settings,
    lacking_credentials,
    lacking_settings,
    unbindable,
)
from butlerctl.deploy.planning import draft_of
from butlerctl.deploy.server import Document, Held, Server
from butlerctl.deploy.snapshot import Kept, Snapshot
from butlerctl.inventory.operations import Route
from butlerctl.n8n.hooks import Hook, hooks_of


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

    `release`: it serves a path that another one is to get back. `obstacle` says why it cannot work, `lacks` what
    will not be as it was however well it works.
    """

    route: Route
    way: Way
    held: Held | None
    kept: Kept | None
    obstacle: str = ""
    release: bool = False
    lacks: tuple[str, ...] = ()
    version: str = ""
    """For PUBLISH and EDIT: what is published in the end."""
    body: Document | None = field(default=None, repr=False)
    """For RESTORE and RECREATE: what is to be saved and published."""
    saved: Document | None = field(default=None, repr=False)
    """What has to be saved so that the editor shows it afterwards; without it, it shows what it shows."""
    theirs: bool = False
    """Is `saved` what a person saved since?"""
    alike: tuple[str, ...] = ()
    """For RECREATE: the workflows that have its name."""

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
            "lacks": list(self.lacks),
        }


@dataclass(frozen=True, slots=True)
class Present:
    """n8n now. `created` maps the workflows that butlerctl made since the snapshot, `written` holds the ids of the
    versions that it saved, `versions` has (workflow, version) of the snapshot's versions that n8n still has.

    `drafts` are, by workflow, what people had saved when a way back began that did not come to its end.
    """

    server: Server
    created: Mapping[str, Route]
    written: Collection[str]
    versions: Collection[tuple[str, str]]
    drafts: Mapping[str, Document] = field(default_factory=dict)


def moves_to(snapshot: Snapshot, present: Present) -> tuple[Move, ...]:
    """One for each workflow of the snapshot, and for each that was created since."""
    moves = [_with_lacks(_move(kept, present), kept, present.server) for kept in snapshot.kept]
    used = {move.held.id for move in moves if move.held}
    for workflow_id, route in present.created.items():
        held = present.server.workflow(workflow_id)
        if held is not None and workflow_id not in used:
            way = Way.UNPUBLISH if held.published is not None else Way.STAY
            moves.append(Move(route, way, held, None))
    return tuple(_with_paths(move, moves, present.server) for move in moves)


def _move(kept: Kept, present: Present) -> Move:
    held, served = _current(kept, present), kept.held.published
    if held is None:
        return Move(
            kept.route,
            Way.RECREATE,
            None,
            kept,
            body=served or kept.held.document,
            saved=_draft_of_then(kept, present),
            alike=tuple(other.id for other in present.server.workflows if other.name == kept.held.name),
        )
    if served is None:
        return _unpublished(kept, held, present)
    version = kept.held.active_version
    if (held.id, version) not in present.versions:
        if not restored(kept, held):
            return _by_content(kept, held, present)
        version = held.active_version
    saved = _to_save(kept, held, present)
    if saved is None and held.active_version == version:
        return Move(kept.route, Way.STAY, held, kept)
    if saved is None:
        return Move(kept.route, Way.PUBLISH, held, kept, version=version)
    theirs = _is_theirs(held, present) and bool(differences(saved, served))
    return Move(kept.route, Way.EDIT, held, kept, version=version, saved=saved, theirs=theirs)


def _current(kept: Kept, present: Present) -> Held | None:
    """The workflow itself, else the one that butlerctl made in its place."""
    ids = [kept.held.id, *(each for each, route in present.created.items() if route == kept.route)]
    found = [held for each in ids if (held := present.server.workflow(each)) and not held.archived]
    return found[0] if found else None


def _by_content(kept: Kept, held: Held, present: Present) -> Move:
    served = kept.held.published
    editor = _editor(kept, held, present)
    saved = _as_then(editor, kept) if editor is not None else None
    if saved is not None and not differences(saved, served or {}):
        saved = None
    theirs = saved is not None and _is_theirs(held, present)
    return Move(kept.route, Way.RESTORE, held, kept, body=served, saved=saved, theirs=theirs)


def _unpublished(kept: Kept, held: Held, present: Present) -> Move:
    """It was not published: what butlerctl saved since gives way to what was saved then."""
    if not _is_theirs(held, present) and unlike_then(held.document, kept.held.document):
        return Move(kept.route, Way.EDIT, held, kept, saved=kept.held.document)
    way = Way.STAY if held.published is None else Way.UNPUBLISH
    return Move(kept.route, way, held, kept)


def _to_save(kept: Kept, held: Held, present: Present) -> Document | None:
    """What has to be saved beside the publishing: a draft that butlerctl overwrote, or name and settings alone."""
    editor = _editor(kept, held, present)
    overwritten = editor is not None and not _is_theirs(held, present)
    same = held.name == kept.held.name and not _settings_to_bring_back(held.document, kept.held.document)
    if same and not overwritten:
        return None
    return _as_then(editor or kept.held.published or {}, kept)


def _editor(kept: Kept, held: Held, present: Present) -> Document | None:
    """The nodes that a person saved and is to find in the editor again; None where nobody did.

    What is saved and is not butlerctl's work stays; what butlerctl wrote over comes back.
    """
    if _is_theirs(held, present):
        return held.document
    return present.drafts.get(held.id) or _draft_of_then(kept, present)


def _draft_of_then(kept: Kept, present: Present) -> Document | None:
    return kept.held.document if draft_of(kept.held, present.written) else None


def _is_theirs(held: Held, present: Present) -> bool:
    """Did a person save what the editor shows, and not butlerctl?"""
    return held.version not in present.written


def _as_then(nodes: Document, kept: Kept) -> Document:
    """Name and settings have no versions: they are those of the snapshot."""
    return {**nodes, "name": kept.held.name, "settings": kept.held.document.get("settings")}


def restored(kept: Kept, held: Held | None) -> bool:
    """Is what n8n publishes what it published then, by its version, or where that is gone by its content?"""
    if held is None:
        return False
    if kept.held.published is None or held.published is None:
        return kept.held.published is None and held.published is None
    return not unlike_then(held.published, kept.held.published)


def unlike_then(now: Document, then: Document) -> tuple[Change, ...]:
    """The differences, without the settings that cannot come back."""
    hopeless = tuple(f"settings: {key}." for key in lacking_settings(now, then))
    return tuple(change for change in differences(now, then) if not f"{change.where}.".startswith(hopeless))


def _settings_to_bring_back(now: Document, then: Document) -> set[str]:
    return differing_settings(now, then) - lacking_settings(now, then)


def _with_lacks(move: Move, kept: Kept, server: Server) -> Move:
    """The move with what will not be as it was; what is to be saved without what n8n would change by itself."""
    then, now = kept.held.published or kept.held.document, move.held.document if move.held else {}
    settings = [
        f"settings.{key} stays as it is now: n8n's API cannot bring back what it was"
        for key in sorted(lacking_settings(now, then))
    ]
    return replace(
        move,
        lacks=(*lacking_credentials(then, server.credentials), *settings),
        body=unbindable(move.body, server.credentials) if move.body else None,
        saved=unbindable(move.saved, server.credentials) if move.saved else None,
    )


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
