"""`butlerctl sweep`: remove the leftovers of interrupted runs, and nothing else."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, STATE_DIR, Format, find_and_load
from butlerctl.cli.documents import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from butlerctl.checks.sweep import Sweep
    from butlerctl.errors import ButlerctlError
    from butlerctl.google.interface import Hit
    from butlerctl.inventory.model import Inventory

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def sweep(
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
    yes: bool = typer.Option(False, "--yes", help="Delete even more than 3 objects with one nonce."),
    format_: Format = FORMAT,
) -> None:
    """Look for every test object that the ledger does not know to be gone, and delete it with all guards.

    Without a ledger nothing is deleted: what looks like a test object is only reported.

    Exit codes: 0 nothing is left, 4 something remains that a person has to look at, 75 try again, 77 not permitted,
    78 bad input.
    """
    result = _run(find_and_load(inventory), state_dir, many=yes)
    if format_ is Format.JSON:
        print_json(_as_json(result))
    else:
        for line in _lines(result):
            print(line)
    raise typer.Exit(int(result.exit_code))


def _run(inventory: Inventory, state_dir: Path | None, *, many: bool) -> Sweep:
    from butlerctl.checks.sweep import strangers
    from butlerctl.checks.sweep import sweep as sweep_ledger
    from butlerctl.google.household import systems_of_record
    from butlerctl.ledger import FILE_NAME, Ledger
    from butlerctl.state import state_folder

    folder = state_folder(inventory.path, state_dir)
    with systems_of_record(inventory) as systems:
        if not (folder / FILE_NAME).exists():
            print(f"no ledger in {folder}: looking for strays, deleting nothing", file=sys.stderr)
            return strangers(systems, datetime.now(UTC))
        with Ledger(folder) as ledger:
            return sweep_ledger(ledger, systems, many=many)


def _lines(result: Sweep) -> Iterator[str]:
    for cleanup in result.cleanups:
        yield from (f"deleted  {_name(hit)}" for hit in cleanup.removed)
        for refused in cleanup.refused:
            yield f"REMAINS  {_name(refused.hit)}: {'; '.join(refused.reasons)}"
    yield from (f"REMAINS  {_name(hit)}: no ledger knows it" for hit in result.strangers)
    yield from _problem_lines(result)
    if result.damaged_lines:
        numbers = ", ".join(map(str, result.damaged_lines))
        yield f"REMAINS  the ledger is damaged in line {numbers}: look for BTLR- objects by hand"
    removed = sum(len(cleanup.removed) for cleanup in result.cleanups)
    remain = sum(len(cleanup.refused) for cleanup in result.cleanups) + len(result.strangers)
    unknown = sum(cleanup.problem is not None for cleanup in result.cleanups)
    tail = f", {unknown} unknown" if unknown else ""
    yield f"{len(result.cleanups)} looked for, {removed} deleted, {remain} remain{tail}"


def _problem_lines(result: Sweep) -> Iterator[str]:
    """One problem may keep butlerctl from looking for many nonces: it is told once."""
    found: dict[str, tuple[ButlerctlError, list[str]]] = {}
    for cleanup in result.cleanups:
        if cleanup.problem:
            found.setdefault(cleanup.problem.message, (cleanup.problem, []))[1].append(cleanup.nonce)
    for problem in result.problems:
        found.setdefault(problem.message, (problem, []))
    for problem, nonces in found.values():
        yield f"unknown  {', '.join(nonces) or 'strays'}: {problem.message}"
        if problem.hint:
            yield f"         hint: {problem.hint}"


def _name(hit: Hit) -> str:
    return f"{hit.nonce} {hit.domain} of {hit.profile}, {hit.object_id} {hit.link}".rstrip()


def _as_json(result: Sweep) -> dict[str, Any]:
    return {
        "cleanups": [
            {
                "nonce": cleanup.nonce,
                "gone": cleanup.gone,
                "removed": [_hit(hit) for hit in cleanup.removed],
                "remains": [
                    _hit(refused.hit) | {"reasons": list(refused.reasons)} for refused in cleanup.refused
                ],
                "problem": cleanup.problem and cleanup.problem.message,
            }
            for cleanup in result.cleanups
        ],
        "strangers": [_hit(hit) for hit in result.strangers],
        "damaged_ledger_lines": list(result.damaged_lines),
        "problems": [problem.message for problem in result.problems],
    }


def _hit(hit: Hit) -> dict[str, str]:
    return {
        "nonce": hit.nonce,
        "domain": hit.domain,
        "profile": hit.profile,
        "container": hit.container,
        "id": hit.object_id,
        "title": hit.title,
        "link": hit.link,
    }
