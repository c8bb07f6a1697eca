"""Plans, deployments, snapshots, rollbacks and drift as lines for a person."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from butlerctl.deploy.deployment import Outcome, Result
from butlerctl.deploy.difference import Change
from butlerctl.deploy.drift import Drift
from butlerctl.deploy.moves import Move, Way
from butlerctl.deploy.plan import Entry, Plan, Status
from butlerctl.deploy.report import VouchingReport
from butlerctl.deploy.rollback import Return
from butlerctl.deploy.snapshot import Snapshot

_LONGEST = 100  # characters of one value
_MOST_LINES = 12  # of one text that differs

_SAY_OF_STATUS = {
    Status.CREATE: "create    n8n has no such workflow",
    Status.UPDATE: "update    n8n serves something else",
    Status.PUBLISH: "publish   the file is saved in n8n, and an older version is served",
    Status.ACTIVATE: "activate  the file is saved in n8n, and nothing is published",
    Status.SAVE: "save      n8n serves the file, and its editor shows something else",
    Status.SILENT: "silent    n8n says that it publishes the file, and its webhook is not there",
    Status.UNCHANGED: "unchanged",
    Status.DRAFT: "draft     n8n holds changes that nobody published",
    Status.CONFLICT: "conflict",
}


def plan_lines(plan: Plan) -> Iterator[str]:
    yield f"n8n at {plan.target}"
    for entry in plan.entries:
        if entry.status is not Status.UNCHANGED or entry.refusals or entry.notes:
            yield ""
            yield from _entry(entry)
    yield ""
    yield f"{_counts(plan)}{'' if plan.to_write else '; nothing to deploy'}"
    if plan.refusals:
        yield "apply would refuse this plan"


def _entry(entry: Entry) -> Iterator[str]:
    words = _SAY_OF_STATUS[entry.status]
    if entry.status is Status.UPDATE and not entry.before.published:
        words = "update    n8n holds something else, and nothing is published"
    yield f"{entry.route}  {words}"
    if entry.silence:
        yield f"    {entry.silence}"
    if entry.status is Status.SAVE and not entry.draft:
        yield f"    version {entry.before.version}, which was rolled back, gives way to the file"
    if entry.release:
        yield "    is unpublished first: it serves a path that another workflow of the set is to have"
    yield from (f"    {line}" for change in entry.changes for line in change_lines(change))
    if entry.draft:
        stays = entry.status in (Status.DRAFT, Status.SILENT)
        yield f"    {'the draft' if stays else 'overwrites the draft'}, against {_basis(entry)}:"
        yield from (f"      {line}" for change in entry.draft for line in change_lines(change))
    yield from (f"    REFUSED: {text}" for text in entry.refusals)
    yield from (f"    note: {text}" for text in entry.notes)


def _basis(entry: Entry) -> str:
    return "what is served" if entry.before.published else "the file"


def _counts(plan: Plan) -> str:
    counts = plan.counts
    return ", ".join(f"{counts[status]} {status}" for status in Status if counts[status]) or "no routes"


def change_lines(change: Change) -> Iterator[str]:
    before, after = change.before, change.after
    if before is None:
        yield f"+ {change.where}: {_value(after)}"
    elif after is None:
        yield f"- {change.where}: {_value(before)}"
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        yield f"~ {change.where}:"
        yield from (f"    {line}" for line in _text_difference(before, after))
    else:
        start = _same_start(before, after)
        yield f"~ {change.where}: {_value(before, start)} -> {_value(after, start)}"


def _value(value: Any, start: int = 0) -> str:
    """As JSON, cut at both ends where it is long; `start` is where it begins to matter."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _LONGEST:
        return text
    start = max(0, min(start - _LONGEST // 4, len(text) - _LONGEST))
    shown = text[start : start + _LONGEST]
    return f"{'…' if start else ''}{shown}{'…' if start + _LONGEST < len(text) else ''}"


def _same_start(before: Any, after: Any) -> int:
    """How many characters two values have in common at their beginning, as they are shown."""
    pairs = zip(*(json.dumps(value, ensure_ascii=False) for value in (before, after)), strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), 0)


def _text_difference(before: str, after: str) -> Sequence[str]:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))[2:]
    shown = [line[:_LONGEST] for line in lines if not line.startswith("@@")]
    more = len(shown) - _MOST_LINES
    return [*shown[:_MOST_LINES], f"… {more} lines more"] if more > 0 else shown


def result_lines(result: Result) -> Iterator[str]:
    """The last line says in one look what became of the set."""
    counts = _counts(result.plan)
    if result.outcome is Outcome.NOTHING:
        yield f"nothing to do: {counts}; everything answers"
    elif result.outcome is Outcome.DONE:
        yield f"deployed: {counts}; everything answers"
        yield f"the way back: butlerctl rollback --to {result.snapshot}"
    else:
        yield f"failed: {result.reason}"
        yield from _left(result.left, result.snapshot)


def _left(left: Iterable[Any], snapshot: str) -> Iterator[str]:
    failures = list(left)
    yield from (f"NOT PUT BACK  {failure.route}: {failure.message}" for failure in failures)
    if failures:
        yield f"{len(failures)} workflows are not as in the snapshot {snapshot}: look at them, then `butlerctl rollback`"
    else:
        yield f"the whole set was put back to the snapshot {snapshot}"


def snapshot_lines(snapshots: Iterable[Snapshot]) -> Iterator[str]:
    for snapshot in snapshots:
        active = sum(kept.held.published is not None for kept in snapshot.kept)
        yield (
            f"{snapshot.id}  {snapshot.taken:%Y-%m-%d %H:%M:%S} UTC  {snapshot.kind:<8}  "
            f"n8n {snapshot.n8n or '?'}, {len(snapshot.kept)} workflows, {active} published  {_voucher(snapshot.report)}"
        )


def _voucher(report: Mapping[str, str] | None) -> str:
    if not report:
        return "no report vouches for it"
    started = f"{report['started'][:16].replace('T', ' ')} UTC"
    return f"report {report['id']} of {started}, {report['verdict']}, key {report['key'][:12]}"


def version_lines(snapshot: Snapshot) -> Iterator[str]:
    """One snapshot, workflow by workflow."""
    yield from snapshot_lines([snapshot])
    width = max((len(str(kept.route)) for kept in snapshot.kept), default=0)
    for kept in snapshot.kept:
        served = kept.held.active_version or "nothing published"
        silent = "" if all(kept.answering.values()) else "  did not answer"
        yield f"  {kept.route!s:<{width}}  {kept.held.id}  {served}{silent}"


_WORDS = {
    Way.RESTORE: "n8n no longer has the version: save its body from the snapshot",
    Way.RECREATE: "the workflow is gone: make it from the snapshot",
    Way.UNPUBLISH: "unpublish",
    Way.REPUBLISH: "n8n says that it is published, and its webhook is not there: publish it again",
}


def return_lines(back: Return) -> Iterator[str]:
    """What a rollback did, or would do."""
    snapshot = back.snapshot
    yield f"snapshot {snapshot.id} of {snapshot.taken:%Y-%m-%d %H:%M:%S} UTC, {_voucher(snapshot.report)}"
    yield from (f"  {move.route}: {_move(move)}" for move in back.to_change)
    if back.outcome is None:
        yield from (f"  OBSTACLE  {text}" for text in back.obstacles)
        yield from (f"  LACKS  {text}" for text in back.lacks)
        works = "a rollback would not work" if back.obstacles else "a rollback would work"
        works += ", and what it lacks would still be missing" if back.lacks and not back.obstacles else ""
        yield f"{works}: {len(back.to_change)} of {len(back.moves)} workflows would change"
    elif back.outcome is Outcome.NOTHING:
        yield (
            "nothing to do for what the snapshot holds"
            if back.unknown or back.silent
            else "nothing to do: n8n publishes what it published then, and it answers"
        )
    else:
        yield from _left(back.left, snapshot.id)
    if back.outcome is not None:
        yield from (f"LACKS  {text}" for text in back.lacks)


def _move(move: Move) -> str:
    if move.way is Way.EDIT:
        words = (
            f"save {'the newer' if move.theirs else 'its'} draft again"
            if move.unseen
            else "save name and settings of then"
        )
        served = move.kept is not None and move.kept.held.published is not None
        return f"{words}, {_publish(move)}" if served else words
    draft = ", and its draft again" if move.saved is not None else ""
    return _publish(move) if move.way is Way.PUBLISH else f"{_WORDS[move.way]}{draft}"


def _publish(move: Move) -> str:
    return f"publish version {move.kept.held.active_version if move.kept else '?'}"


def drift_lines(found: Sequence[Drift], report: VouchingReport | None) -> Iterator[str]:
    drifted = [each for each in found if each.findings]
    for each in drifted:
        yield f"{each.entry.route}  {'; '.join(each.findings)}"
        yield from (f"    {line}" for change in each.entry.changes for line in change_lines(change))
        if each.entry.status is Status.DRAFT:
            yield f"    the draft, against {_basis(each.entry)}:"
            yield from (f"      {line}" for change in each.entry.draft for line in change_lines(change))
    yield from (f"{each.entry.route}  note: {text}" for each in found for text in each.entry.notes)
    yield f"compared with the files, and with {_compared(found, report)}"
    unheard = sum(bool(each.entry.unheard) for each in found)
    not_proven = f"; of {unheard} it is not known whether they answer" if unheard else ""
    yield f"{len(drifted)} of {len(found)} workflows drifted{not_proven}"


def _compared(found: Sequence[Drift], report: VouchingReport | None) -> str:
    if report is None:
        return "no report: the state folder holds no PASS about this n8n that a trusted key signed"
    named = sum(bool(each.report) for each in found)
    return (
        f"the report {report.run.id} of {report.run.started:%Y-%m-%d %H:%M} UTC: {report.run.verdict}, "
        f"signed by the trusted key {report.key[:12]}, about {named} of {len(found)} workflows"
    )
