"""A workflow of one person works with another person's path, credential, calendar, list or spreadsheet.

The call succeeds, in the wrong account. It happens when a file is copied for the next person and one of its
places is forgotten; n8n helps along by binding credentials by name.

Fix: put this person's credential or place in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from butlerctl.inventory.operations import Route
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import compiled
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.summary import Summary, Use

Owners = dict[tuple[str, str], dict[str, list[Summary]]]


def check_set(summaries: Sequence[Summary], context: Context) -> Iterable[tuple[Summary, Hit]]:
    members = [summary for summary in summaries if summary.routes.any and not summary.archived]
    profiles = context.contract.profiles | {
        route.profile for summary in members for route in summary.routes if route
    }
    owners = _owners(members)
    for summary in members:
        if not summary.given:
            continue
        profile = _profile(summary)
        contradiction = list(_path_hits(summary))
        yield from ((summary, hit) for hit in contradiction)
        for use in () if contradiction else summary.uses:
            other = _named(use, profile, profiles) or _owner(use, profile, owners, context)
            if other:
                yield summary, _hit(use, profile, other)


def _path_hits(summary: Summary) -> Iterator[Hit]:
    served = summary.routes.by_path
    meant = _contradiction(summary)
    if served and meant:
        hook = summary.hooks[0] if summary.hooks else None
        yield Hit(
            f"{summary.file.rpartition('/')[2]} is meant for {meant.profile}, its path serves {served.profile}",
            hook.at if hook else (),
            node=hook.node if hook else "",
            help=f"change the end of the path to {meant.profile}",
        )


def _contradiction(summary: Summary) -> Route | None:
    """The route that file or name claim, where its person is another than the path's."""
    served = summary.routes.by_path
    for claimed in (summary.routes.by_file, summary.routes.by_name):
        if served and claimed and claimed.profile.casefold() != served.profile.casefold():
            return claimed
    return None


def _profile(summary: Summary) -> str:
    route = summary.routes.declared or summary.routes.by_path
    return route.profile if route else ""


def _owners(members: Sequence[Summary]) -> Owners:
    """For each credential and place: the workflows that use it, by person."""
    owners: Owners = {}
    for summary in members:
        for use in summary.uses:
            users = owners.setdefault((use.kind, use.value), {}).setdefault(_profile(summary), [])
            if summary not in users:
                users.append(summary)
    return owners


def _named(use: Use, profile: str, profiles: frozenset[str]) -> str:
    """The other person whom a credential's name or a placeholder names, where it does not name this one."""
    text = f"{use.label} {use.value}" if use.value.startswith("<") else use.label
    words = set(compiled(r"[\W_]+").split(text.casefold()))
    if profile.casefold() in words:
        return ""
    return next((other for other in sorted(profiles - {profile}) if other.casefold() in words), "")


def _owner(use: Use, profile: str, owners: Owners, context: Context) -> str:
    """The other person to whom a credential or place belongs: by inventory, else by who uses it more."""
    places = context.contract.places
    if use.value in places.get(profile, ()):
        return ""
    for other, values in places.items():
        if use.value in values:
            return other
    users = owners[use.kind, use.value]
    others = {other: len(files) for other, files in users.items() if other != profile}
    if not others:
        return ""
    strongest = min(others, key=lambda other: (-others[other], other))
    mine = (-len(users[profile]), profile)
    return strongest if (-others[strongest], strongest) < mine else ""


def _hit(use: Use, profile: str, other: str) -> Hit:
    what = f"the {use.kind} {use.value!r}" if not use.label else f'the credential "{use.label}"'
    return Hit(
        f"{what} belongs to {other}, this workflow to {profile}",
        use.at,
        token=f"{use.kind} {use.value}",
        node=use.node,
        help=f"put {profile}'s own in its place",
    )


RULE = Rule("BW304", "another person's path, credential or place", Severity.ERROR, check_set=check_set)
