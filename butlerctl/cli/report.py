"""`butlerctl report`: read, check and compare reports."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, SIGN, STATE_DIR, Format, duration
from butlerctl.cli.documents import print_json, print_line
from butlerctl.errors import ExitCode, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from butlerctl.inventory.model import Inventory
    from butlerctl.report.policy import Policy, Verification
    from butlerctl.report.run import Run
    from butlerctl.report.saved import Saved

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="Read, check, compare and join signed reports.",
)

TRUSTED = typer.Option([], "--key", help="A public key that is trusted; may be repeated.", metavar="PUB")
REPORT = typer.Argument(help="A report file.", metavar="FILE")


class ShowFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    HTML = "html"
    JUNIT = "junit"
    PROMETHEUS = "prometheus"


@app.command(short_help="Show what a report says.")
def show(
    file: Path = REPORT,
    format_: ShowFormat = typer.Option(ShowFormat.TEXT, "--format", help="How to print it."),
) -> None:
    """Show what a report says. The signature is not checked: `report verify` does that.

    Exit codes: 0 shown, 1 the file is no report, 78 it cannot be read.
    """
    from butlerctl.report.render import render
    from butlerctl.report.signing import read_report

    sys.stdout.write(render(read_report(file), format_, colour=_colour()))


@app.command(short_help="Decide whether a report can be believed.")
def verify(
    file: Path = REPORT,
    keys: list[Path] = TRUSTED,
    target: str | None = typer.Option(None, help="The n8n that the report must be about.", metavar="URL"),
    max_age: str = typer.Option("24h", help="How old the run may be: 90s, 30m, 24h, 7d.", metavar="AGE"),
    nonce: str | None = typer.Option(None, help="The challenge that the run was given.", metavar="TEXT"),
    workflows: Path | None = typer.Option(
        None, help="The folder of exports that the report must be about.", metavar="DIR"
    ),
    inventory: Path | None = typer.Option(
        None, help="Take target, workflows and bindings from this inventory.", metavar="FILE"
    ),
    format_: Format = FORMAT,
) -> None:
    """Decide whether a report can be believed: signature, result, age, target, workflows.

    Exit codes: 0 accepted, 1 refused, 78 a file cannot be read.
    """
    from butlerctl.report.policy import verify_report
    from butlerctl.report.signing import read_file

    if not keys:
        raise UsageProblem(
            "report verify needs --key PUB", hint="a report is only as good as a key you trust"
        )
    policy = _policy(keys, target, duration("--max-age", max_age), nonce, workflows, inventory)
    verification = verify_report(read_file(file), policy, datetime.now(UTC))
    if format_ is Format.JSON:
        print_json(_as_json(verification))
    else:
        for line in _lines(verification, policy):
            print_line(line)
    raise typer.Exit(int(ExitCode.PROVEN if verification.accepted else ExitCode.BROKEN))


@app.command(short_help="Compare two reports.")
def diff(
    before: Path = typer.Argument(help="The earlier report.", metavar="A"),
    after: Path = typer.Argument(help="The later report.", metavar="B"),
    format_: Format = FORMAT,
) -> None:
    """Compare two reports. Signatures are not checked.

    Exit codes: 0 no difference, 1 they differ, or a file is no report, 78 one cannot be read.
    """
    from butlerctl.report.diff import compare
    from butlerctl.report.signing import read_report
    from butlerctl.report.statement import run_of

    changes = compare(*(run_of(read_report(path).payload) for path in (before, after)))
    if format_ is Format.JSON:
        documents = [{"what": each.what, "before": each.before, "after": each.after} for each in changes]
        print_json(documents)
    else:
        for change in changes:
            print_line(f"{change.what}: {change.before or 'not there'} -> {change.after or 'not there'}")
        print(f"{len(changes)} differences" if changes else "no difference", file=sys.stderr)
    raise typer.Exit(int(ExitCode.BROKEN if changes else ExitCode.PROVEN))


@app.command(short_help="Join signed reports of one verification.")
def merge(
    files: list[Path] = typer.Argument(help="The signed reports of the parts.", metavar="FILE..."),
    keys: list[Path] = TRUSTED,
    report: Path | None = typer.Option(
        None, "--report", help="Where the joined report goes; the state folder without it.", metavar="FILE"
    ),
    sign: Path | None = SIGN,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
    format_: Format = FORMAT,
) -> None:
    """Join the reports of runs that each proved some of the routes (`verify --only`, all with one --nonce).

    Every route of the inventory must be in exactly one of them; nothing is written otherwise.

    Exit codes: 0 proven, 1 broken, or they are not the parts of one verification, 3 not proven, 4 something was left
    behind, 78 a file cannot be read or written.
    """
    from butlerctl.cli.common import find_and_load
    from butlerctl.report.keys import load_public_key
    from butlerctl.report.merge import join, objections, read_pieces
    from butlerctl.report.saved import default_path, prepare, save_run

    if not keys:
        raise UsageProblem("report merge needs --key PUB", hint="a part is only as good as a key you trust")
    if report is not None and _is_one_of(report, files):
        raise UsageProblem(f"--report {report} is one of the parts", hint="name another file")
    household = find_and_load(inventory)
    trusted = [load_public_key(key) for key in keys]
    pieces, refusals = read_pieces(files, trusted)
    if refusals := refusals or objections(pieces, household.routes, household.digest):
        _refuse(refusals, format_)
    joined = join(pieces, household.routes)
    desk = prepare(
        report or default_path(household.path, state_dir), key=sign, state_dir=state_dir, lab=False
    )
    _show_joined(joined, save_run(joined, desk), format_)
    raise typer.Exit(int(joined.exit_code))


def _is_one_of(path: Path, files: Iterable[Path]) -> bool:
    for file in files:
        with suppress(OSError):
            if path.samefile(file):
                return True
    return False


def _refuse(refusals: list[str], format_: Format) -> NoReturn:
    if format_ is Format.JSON:
        print_json({"refusals": refusals})
    else:
        for text in refusals:
            print_line(f"refused: {text}")
    raise typer.Exit(int(ExitCode.BROKEN))


def _show_joined(run: Run, saved: Saved, format_: Format) -> None:
    from butlerctl.cli.views.outcome import report_json, report_lines
    from butlerctl.report.words import headline, parts_of

    if format_ is Format.JSON:
        document = {"verdict": str(run.verdict), "id": run.id, "parts": [part.id for part in run.parts]}
        print_json(document | {"report": report_json(saved)})
        return
    for line in (headline(run), f"joined of {parts_of(run)}", *report_lines(saved)):
        print_line(line)


def _policy(
    keys: list[Path],
    target: str | None,
    max_age: timedelta,
    nonce: str | None,
    workflows: Path | None,
    inventory: Path | None,
) -> Policy:
    from butlerctl.report.keys import load_public_key
    from butlerctl.report.policy import Policy

    household = _inventory(inventory) if inventory else None
    return Policy(
        trusted=tuple(load_public_key(key) for key in keys),
        max_age=max_age,
        target=target or (household.n8n.url.get() if household else None),
        workflows=_current(workflows, household) if workflows or household else None,
        inventory_digest=household.digest if household else None,
        nonce=nonce,
    )


def _inventory(path: Path) -> Inventory:
    from butlerctl.inventory.loader import load_inventory

    return load_inventory(path, os.environ)


def _current(folder: Path | None, household: Inventory | None) -> dict[str, str]:
    from butlerctl.report.current import current_workflows

    return current_workflows(_exports(folder, household), _bindings(household))


def _exports(folder: Path | None, household: Inventory | None) -> Iterable[Path]:
    if household is not None:
        return [(folder or household.workflows.directory) / route.workflow_file for route in household.routes]
    found = sorted(folder.glob("*.json")) if folder else []
    if not found:
        raise UsageProblem(f"{folder} holds no export (*.json)")
    return found


def _bindings(household: Inventory | None) -> dict[str, str]:
    if household is None:
        return {}
    placeholders = household.workflows.placeholders.values()
    return {each.token: each.value.get() for each in placeholders if each.value is not None}


def _lines(verification: Verification, policy: Policy) -> list[str]:
    from butlerctl.report.words import headline, moment, target

    if not verification.accepted or verification.run is None or verification.key is None:
        return [f"refused: {refusal.message}" for refusal in verification.refusals]
    run, key = verification.run, verification.key
    lines = [
        f"accepted: {headline(run)}",
        f"  target {target(run)}, {moment(run.started)}",
        f"  signed by {key.type} key {key.key_id}",
    ]
    if policy.open_questions:
        lines.append(f"  not asked: {', '.join(policy.open_questions)}")
    return lines


def _as_json(verification: Verification) -> dict[str, Any]:
    run, key = verification.run, verification.key
    return {
        "accepted": verification.accepted,
        "refusals": [{"check": each.check, "message": each.message} for each in verification.refusals],
        "key": key and key.key_id,
        "run": run
        and {
            "id": run.id,
            "verdict": str(run.verdict),
            "target": run.target,
            "lab": run.lab,
            "startedOn": run.started.isoformat(),
            "routes": [str(result.route) for result in run.routes],
        },
    }


def _colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
