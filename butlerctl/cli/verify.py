"""`butlerctl verify`: prove every route end to end and write the signed report."""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, SIGN, STATE_DIR, Format, chosen_routes, find_and_load
from butlerctl.cli.documents import print_json
from butlerctl.errors import BadInput, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from butlerctl.inventory.model import Inventory
    from butlerctl.inventory.operations import Route
    from butlerctl.report.saved import Desk, Saved
    from butlerctl.verify import Verification

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


class Engine(StrEnum):
    STAND_IN = "stand-in"
    REAL = "real"


@app.command()
def verify(
    only: list[str] = typer.Option(
        [], "--only", help="Only these routes; globs, may be repeated or joined by commas.", metavar="ROUTE"
    ),
    report: Path | None = typer.Option(
        None, "--report", help="Where the report goes; the state folder without it.", metavar="FILE"
    ),
    sign: Path | None = SIGN,
    nonce: str = typer.Option("", "--nonce", help="A challenge to bind into the report.", metavar="TEXT"),
    save_evidence: Path | None = typer.Option(
        None,
        "--save-evidence",
        help="Write one evidence bundle a route; `diagnose DIR/*` reads them.",
        metavar="DIR",
    ),
    tap_record: Path | None = typer.Option(
        None,
        "--tap-record",
        help="What a running `butlerctl tap` records before the provider: each call is then proven native.",
        metavar="DIR",
    ),
    lab: bool = typer.Option(False, "--lab", help="Start the embedded stack and verify that."),
    engine: Engine | None = typer.Option(
        None, "--engine", help="With --lab: stand-ins (as without it), or the real n8n and OpenClaw from npm."
    ),
    fault: list[str] = typer.Option(
        [], "--fault", help="With --lab: plant a fault (`lab faults` lists them).", metavar="NAME@ROUTE"
    ),
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Prove every route end to end: lint, pins, probes, round trips through the agent, a signed report.

    Writes marked test objects to Google, through the agent, and removes them again.

    Exit codes: 0 proven, 1 broken, 3 not proven, 4 something was left behind, 75 try again (unreachable, nothing
    was written), 77 not permitted, 78 bad input.
    """
    _refuse_without_lab(lab=lab, given={"--engine": engine is not None, "--fault": bool(fault)})
    if tap_record is not None and lab:
        raise UsageProblem("--tap-record is for a household: the lab's own gateway asks the lab's own model")
    _refuse_masked(nonce)
    household = find_and_load(inventory)
    routes = chosen_routes(household, [part for text in only for part in text.split(",")])
    desk = _prepare(household, _Writing(report, sign, state_dir, save_evidence), lab=lab)
    with _household(household, fault, lab=lab, engine=engine or Engine.STAND_IN) as target:
        given = _Given(routes, state_dir, nonce, tap_record)
        result = _run(target, given, lab=lab, watched=format_ is Format.TEXT)
    _finish(result, desk, save_evidence, format_)
    raise typer.Exit(int(result.exit_code))


def _refuse_without_lab(*, lab: bool, given: Mapping[str, bool]) -> None:
    """Without the lab the household itself is verified, and written to: an option of the lab is a slip then."""
    for option, is_given in given.items():
        if is_given and not lab:
            raise UsageProblem(
                f"{option} needs --lab",
                hint="without --lab the household of the inventory itself is verified",
            )


def _refuse_masked(nonce: str) -> None:
    from butlerctl.redaction import redact_text

    if redact_text(nonce) != nonce:
        raise UsageProblem(
            "--nonce looks like a secret, and would be masked in the report",
            hint="a challenge is no secret: take plain letters and digits",
        )


@contextmanager
def _household(inventory: Inventory, faults: list[str], *, lab: bool, engine: Engine) -> Iterator[Inventory]:
    """The inventory to verify: the operator's own, or the same household in a lab."""
    if not lab:
        yield inventory
        return
    from butlerctl.lab.faults import plant, read_fault
    from butlerctl.lab.stack import open_lab

    planted = [read_fault(text, inventory) for text in faults]
    with open_lab(inventory, engine) as running:
        for one in planted:
            plant(running, one)
        yield running.inventory


class _Given(NamedTuple):
    """What the command line says about one verification."""

    routes: tuple[Route, ...]
    state_dir: Path | None
    nonce: str
    tap_record: Path | None


def _run(target: Inventory, given: _Given, *, lab: bool, watched: bool) -> Verification:
    from butlerctl.checks.wire_record import TapRecord
    from butlerctl.cli.views.choose import view_for
    from butlerctl.verify import Assignment
    from butlerctl.verify import verify as verify_routes

    record = TapRecord(given.tap_record) if given.tap_record else None
    state_of, view_of = (
        _state_of(target.path, given.state_dir, lab=lab),
        view_for(given.routes, watched=watched),
    )
    with state_of as state, view_of as view:
        assignment = Assignment(given.routes, state, given.nonce, lab, tap_record=record)
        return verify_routes(target, assignment, view)


@contextmanager
def _state_of(inventory: Path, state_dir: Path | None, *, lab: bool) -> Iterator[Path]:
    """The folder of the ledger; that of a lab is forgotten with it."""
    from tempfile import TemporaryDirectory

    from butlerctl.state import state_folder

    if not lab:
        yield state_folder(inventory, state_dir)
        return
    try:
        forgotten = TemporaryDirectory(prefix="butlerctl-lab-")
    except OSError as error:
        raise BadInput(f"no folder for temporary files: {error.strerror}", hint="set TMPDIR") from error
    with forgotten as name:
        yield Path(name)


class _Writing(NamedTuple):
    """What the command line says about what is written."""

    report: Path | None
    sign: Path | None
    state_dir: Path | None
    save_evidence: Path | None


def _prepare(household: Inventory, given: _Writing, *, lab: bool) -> Desk:
    """What cannot be written or signed with is found before the run, not after it."""
    from butlerctl.report.evidence_files import prepare_folder
    from butlerctl.report.saved import default_path, prepare

    if given.save_evidence is not None:
        prepare_folder(given.save_evidence)
    report = given.report or default_path(household.path, given.state_dir)
    return prepare(report, key=given.sign, state_dir=given.state_dir, lab=lab)


def _finish(result: Verification, desk: Desk, save_evidence: Path | None, format_: Format) -> None:
    """Write and show. What cannot be written keeps nothing from being shown."""
    from butlerctl.report.evidence_files import save_bundles
    from butlerctl.report.saved import save_run

    saved = None
    try:
        saved = save_run(result.run, desk)
        if save_evidence is not None:
            save_bundles(result.bundles, save_evidence)
    finally:
        _show(result, saved, format_)


def _show(result: Verification, saved: Saved | None, format_: Format) -> None:
    from butlerctl.cli.views.outcome import as_json, as_lines

    if format_ is Format.JSON:
        print_json(as_json(result, saved))
    else:
        print("\n".join(as_lines(result, saved)))
