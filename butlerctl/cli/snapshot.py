"""`butlerctl snapshot`: keep what n8n holds now; list what was kept."""

from __future__ import annotations

from pathlib import Path

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, STATE_DIR, Format
from butlerctl.cli.deploying import KEYS, opened_without_files, reports_at_hand, say, show
from butlerctl.errors import ExitCode

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    subcommand_metavar="[COMMAND]",
)


@app.callback(invoke_without_command=True)
def snapshot(
    context: typer.Context,
    report: Path | None = typer.Option(
        None,
        "--report",
        help="The report that may vouch for it; those in the state folder without it.",
        metavar="FILE",
    ),
    keys: list[Path] = KEYS,
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Take a snapshot of what n8n holds and serves for every route, as a way back. Nothing is written to n8n.

    Exit codes: 0 taken, 4 taken, and a workflow is not in it because its file, which has its name, cannot be read,
    75 n8n cannot be reached, 77 the API key may not, 78 bad input.
    """
    if context.invoked_subcommand is not None:
        return
    from butlerctl.deploy.render_text import version_lines
    from butlerctl.deploy.scene import find_held
    from butlerctl.deploy.snapshot import Kind

    with opened_without_files(inventory, state_dir) as (household, ground):
        reports = reports_at_hand(household, report, keys, state_dir)
        with ground.store.lock():
            held, missing = find_held(ground, household)
            taken = ground.keep(held, Kind.MANUAL, reports)
    show(taken.as_json(), version_lines(taken), format_)
    for route, error in missing.items():
        say(f"{route} is not in the snapshot: {error.message}")
    raise typer.Exit(int(ExitCode.LEFTOVER if missing else ExitCode.PROVEN))


@app.command("list", short_help="List the snapshots of this n8n, the newest first.")
def list_(
    format_: Format = FORMAT, inventory: Path | None = INVENTORY, state_dir: Path | None = STATE_DIR
) -> None:
    """List the snapshots of this n8n, the newest first: date, versions, and the report that vouches for each.

    Exit codes: 0 all can be read, 78 one is damaged: it is named, and no way back.
    """
    from butlerctl.deploy.render_text import snapshot_lines

    with opened_without_files(inventory, state_dir) as (_, ground):
        found, damaged = ground.store.all_snapshots()
    lines = [*snapshot_lines(found), *(f"{id_}  DAMAGED  {text}" for id_, text in damaged.items())]
    document = [each.summary() for each in found]
    if not lines:
        say(f"there is no snapshot of {ground.target}")
    show([*document, *({"id": id_, "damaged": text} for id_, text in damaged.items())], lines, format_)
    raise typer.Exit(int(ExitCode.BAD_INPUT if damaged else ExitCode.PROVEN))
