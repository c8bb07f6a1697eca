"""A plan from the files and from what n8n holds for them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from butlerctl.deploy.difference import Change, differences, moved
from butlerctl.deploy.journal import Memory
from butlerctl.deploy.listening import Silence
from butlerctl.deploy.plan import Entry, Plan, State, Status
from butlerctl.deploy.server import Document, Held, Member, Server
from butlerctl.inventory.operations import Route
from butlerctl.n8n.hooks import hooks_of, taken
from butlerctl.workflows.digest import canonical_digest


@dataclass(frozen=True, slots=True)
class Question:
    """What a plan is made from: the files as they would be deployed, and what n8n holds for them.

    `objections` says what speaks against deploying a route, `memory` what butlerctl itself did here before,
    `silences` which webhooks were not heard of those that serve the file already.
    """

    target: str
    inventory_digest: str
    exports: Mapping[Route, Document]
    server: Server
    members: Mapping[Route, Member]
    objections: Mapping[Route, tuple[str, ...]] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    silences: Mapping[Route, Silence] = field(default_factory=dict)
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
    status, silence = _status(question, route), question.silences.get(route)
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
        draft=_draft(question, route),
        release=held is not None and any(hook in held.hooks for hook in _hooks_of_others(question, route)),
        silence=silence.words if silence and silence.certain else "",
        unheard=silence.words if silence and not silence.certain else "",
        refusals=(
            *conflicts,
            *question.objections.get(route, ()),
            *([_draft_refusal(held)] if stays and held else []),
        ),
        notes=tuple(_notes(question, route, changes)),
    )


def _status(question: Question, route: Route) -> Status:
    export, held = question.exports[route], question.members[route].held
    if held is None:
        return Status.CREATE
    saved_fits = not differences(held.document, export)
    may_go = question.overwrite_drafts or not _draft(question, route)
    if held.published is None:
        return Status.ACTIVATE if saved_fits else Status.UPDATE if may_go else Status.DRAFT
    published_fits = not differences(held.published, export)
    if not published_fits and saved_fits:
        return Status.PUBLISH
    if not saved_fits and may_go:
        return Status.SAVE if published_fits else Status.UPDATE
    if published_fits and _is_silent(question, route):
        return Status.SILENT
    return Status.UNCHANGED if saved_fits else Status.DRAFT


def _is_silent(question: Question, route: Route) -> bool:
    silence = question.silences.get(route)
    return silence is not None and silence.certain


def _draft(question: Question, route: Route) -> tuple[Change, ...]:
    """The changes that a person saved and did not publish.

    Where nothing is published, that is what was saved since butlerctl was last at work here; before it first was, what
    is saved is somebody's import and gives way.
    """
    held, memory = question.members[route].held, question.memory
    if held is None or held.published is not None:
        return draft_of(held, memory.written) if held else ()
    is_known = memory.known.get(route) == held.id
    is_newer = is_known and held.version not in memory.published
    return differences(question.exports[route], held.document) if is_newer else ()


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
            f'{method} {path} is {_how(path, by)} another workflow: "{stranger.name}" ({stranger.id})'
            for (method, path), by in sorted(stranger.keeps_from(wanted, member.held).items())
        ]
    return found


def _how(path: str, by: str) -> str:
    return "served by" if by == path else f"covered by the dynamic path {by} of"


def _strangers(question: Question) -> Iterable[Held]:
    ours = {member.held.id for member in question.members.values() if member.held}
    return (held for held in question.server.workflows if held.id not in ours and not held.archived)


def _hooks_of_others(question: Question, route: Route) -> Iterable[tuple[str, str]]:
    return (hook for other, export in question.exports.items() if other != route for hook in hooks_of(export))


def _draft_refusal(held: Held) -> str:
    return (
        f"n8n holds an unpublished draft (version {held.version}) that would be overwritten:"
        " publish or discard it there, or plan with --overwrite-drafts"
    )


def _notes(question: Question, route: Route, changes: Collection[Change]) -> Iterator[str]:
    for twin in question.members[route].twins:
        state = "archived" if twin.archived else "active" if twin.published else "inactive"
        yield f"another workflow has the same name: {twin.id} ({state})"
    yield from _notes_of_strangers(question, route)
    silence = question.silences.get(route)
    if silence and not silence.certain:
        yield f"whether it answers is not known: {silence.words}"
    yield from _notes_of_published(question, route, changes)


def _notes_of_strangers(question: Question, route: Route) -> Iterator[str]:
    """Other workflows with its path that do not stand in the way, and could."""
    wanted, member = hooks_of(question.exports[route]), question.members[route]
    for stranger in _strangers(question):
        served, kept = taken(wanted, stranger.published), stranger.keeps_from(wanted, member.held)
        for hook in served.keys() - kept.keys():
            yield f'"{stranger.name}" ({stranger.id}) would answer in its place while it is not published: {served[hook]}'
        if taken(wanted, stranger.document).keys() - served.keys() and stranger not in member.twins:
            yield f'saved with the same path, not published: "{stranger.name}" ({stranger.id})'


def _notes_of_published(question: Question, route: Route, changes: Collection[Change]) -> Iterator[str]:
    held = question.members[route].held
    if held is None or held.published is None:
        return
    if changes and route in question.memory.known and held.active_version not in question.memory.published:
        yield f"somebody published version {held.active_version} since butlerctl last deployed here"
    if not changes and (number := moved(held.published, question.exports[route])):
        yield f"{number} node{'s stand' if number > 1 else ' stands'} elsewhere on the canvas, nothing else differs"
