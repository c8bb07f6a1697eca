"""Several signed reports of one verification made into one: every route once, and nothing of another run among them.

What ties the parts together is the challenge (`verify --nonce`): without a common one nobody can tell a part of this run
from one of last month.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from butlerctl.errors import Refused
from butlerctl.judge.result import ChainVerdict
from butlerctl.redaction import MASK
from butlerctl.report.policy import address_of
from butlerctl.report.run import Part, Run, plan_digest
from butlerctl.report.signing import check_signature, parse_report, read_file
from butlerctl.report.statement import contradictions, run_of
from butlerctl.report.words import target

if TYPE_CHECKING:
    from pathlib import Path

    from butlerctl.inventory.operations import Route
    from butlerctl.report.keys import PublicKey

Item = TypeVar("Item")

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Piece:
    """A report whose signature was checked. `name` is what messages call it."""

    name: str
    run: Run
    part: Part


def read_pieces(paths: Iterable[Path], trusted: Sequence[PublicKey]) -> tuple[list[Piece], list[str]]:
    """The parts, and why others are none: no report, not signed by a trusted key, contradicting themselves.

    Raises:
        BadInput: a file cannot be read.
    """
    pieces: list[Piece] = []
    refusals: list[str] = []
    for path in paths:
        data = read_file(path)
        try:
            pieces.append(_piece(str(path), data, trusted))
        except Refused as refusal:
            refusals.append(f"{path}: {refusal.message}")
    return pieces, refusals


def _piece(name: str, data: bytes, trusted: Sequence[PublicKey]) -> Piece:
    report = parse_report(data)
    key = check_signature(report, trusted)
    run = _consistent_run(report.payload)
    return Piece(name, run, Part(run.id, hashlib.sha256(data).hexdigest(), key.key_id))


def _consistent_run(payload: bytes) -> Run:
    run = run_of(payload)
    if wrong := contradictions(payload, run):
        raise Refused(f"the report contradicts itself: {', '.join(wrong)}")
    return run


def objections(pieces: Sequence[Piece], routes: Sequence[Route], inventory_digest: str) -> list[str]:
    """Why these are not the parts of one verification of these routes; empty when they are."""
    return [
        *_not_ours(pieces, routes, inventory_digest),
        *_incomplete(pieces),
        *_foreign(pieces),
        *_unchallenged(pieces),
        *_contradicting(pieces),
        *_twice(pieces),
        *_missing(pieces, routes),
    ]


def join(pieces: Sequence[Piece], routes: Sequence[Route]) -> Run:
    """One run out of parts without objections, its routes in this order. It began with the first and ended with the last."""
    runs = [piece.run for piece in pieces]
    results = {result.route: result for run in runs for result in run.routes}
    return Run(
        id=secrets.token_hex(8),
        nonce=runs[0].nonce,
        target=runs[0].target,
        started=min(run.started for run in runs),
        finished=max(run.finished for run in runs),
        inventory_digest=runs[0].inventory_digest,
        plan_digest=plan_digest(routes),
        versions=_union(run.versions for run in runs),
        workflows=_union(run.workflows for run in runs),
        routes=tuple(results[route] for route in routes),
        checks=_each_once(run.checks for run in runs),
        skipped=_each_once(run.skipped for run in runs),
        leftovers=_each_once(run.leftovers for run in runs),
        lab=runs[0].lab,
        parts=tuple(piece.part for piece in pieces),
    )


def _not_ours(pieces: Iterable[Piece], routes: Sequence[Route], inventory_digest: str) -> Iterator[str]:
    for piece in pieces:
        if piece.run.inventory_digest != inventory_digest:
            yield f"{piece.name} was made with another inventory"
            continue
        for result in piece.run.routes:
            if result.route not in routes:
                yield f"{piece.name} is about {result.route}, which is not in the inventory"


def _incomplete(pieces: Iterable[Piece]) -> Iterator[str]:
    for piece in pieces:
        run = piece.run
        if plan_digest(result.route for result in run.routes) != run.plan_digest:
            yield f"{piece.name} does not hold the routes that it was to prove"
        if run.finished < run.started:
            yield f"{piece.name} ended before it began"
        for result in run.routes:
            if result.verdict is ChainVerdict.PASS and result.route.workflow_name not in run.workflows:
                yield f"{piece.name} proves {result.route} and does not say of which workflow"


def _foreign(pieces: Sequence[Piece]) -> Iterator[str]:
    first, *others = pieces
    for piece in others:
        if _place(piece.run) != _place(first.run):
            yield f"{piece.name} is about {target(piece.run)}, {first.name} about {target(first.run)}"
        if piece.run.nonce != first.run.nonce:
            yield f"{piece.name} and {first.name} do not answer the same challenge: give each part the same --nonce"


def _place(run: Run) -> tuple[object, bool]:
    return address_of(run.target), run.lab


def _unchallenged(pieces: Sequence[Piece]) -> Iterator[str]:
    """What looks the same in every run ties nothing together."""
    for piece in pieces if len(pieces) > 1 else ():
        if not piece.run.nonce or MASK in piece.run.nonce:
            what = "masked, because it looks like a secret" if piece.run.nonce else "empty"
            yield f"the challenge of {piece.name} is {what}: give each part the same --nonce"


def _contradicting(pieces: Sequence[Piece]) -> Iterator[str]:
    """One system has one version, one workflow one content, while a verification lasts."""
    yield from _two_values(pieces, "saw {what} {value}", [piece.run.versions for piece in pieces])
    yield from _two_values(pieces, "has {what} as {value:.12}", [piece.run.workflows for piece in pieces])


def _two_values(pieces: Sequence[Piece], words: str, told: Sequence[Mapping[str, str]]) -> Iterator[str]:
    known: dict[str, tuple[Piece, str]] = {}
    for piece, values in zip(pieces, told, strict=True):
        for what, value in values.items():
            first, before = known.setdefault(what, (piece, value))
            if value != before:
                one, other = (words.format(what=what, value=each) for each in (before, value))
                yield f"{first.name} {one}, {piece.name} {other}"


def _twice(pieces: Iterable[Piece]) -> Iterator[str]:
    files: dict[str, Piece] = {}
    holders: dict[Route, Piece] = {}
    for piece in pieces:
        if (same := files.setdefault(piece.part.sha256, piece)) is not piece:
            yield f"{piece.name} is the same report as {same.name}"
            continue
        for result in piece.run.routes:
            if (first := holders.setdefault(result.route, piece)) is not piece:
                yield f"{result.route} is in {first.name} and in {piece.name}"


def _missing(pieces: Iterable[Piece], routes: Sequence[Route]) -> Iterator[str]:
    held = {result.route for piece in pieces for result in piece.run.routes}
    missing = [str(route) for route in routes if route not in held]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        yield f"no part is about {', '.join(missing[:_NAMED])}{more}"


def _union(told: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return dict(chain.from_iterable(each.items() for each in told))


def _each_once(groups: Iterable[Iterable[Item]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(groups)))
