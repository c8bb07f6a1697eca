"""`butlerctl snapshot`: keep what n8n holds now; list what was kept."""

from __future__ import annotations

from pathlib import Path

import typer

from butlerctl.cli.common import Format
from butlerctl.cli.deploying import FORMAT, INVENTORY, KEYS, STATE_DIR, opened, reports_at_hand, show

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.callback(invoke_without_command=True)
def snapshot(
    context: typer.Context,
    report: Path | None = typer.Option(
        None,
        "--report",
        help="The report that may vouch for it; the newest of `verify` without it.",
        metavar="FILE",
    ),
    keys: list[Path] = KEYS,
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Take a snapshot of what n8n holds and serves for every route, as a way back. Nothing is written to n8n."""
    if context.invoked_subcommand is not None:
        return
    from butlerctl.deploy.render_text import version_lines
    from butlerctl.deploy.snapshot import Kind

    with opened(inventory, state_dir) as (household, scene):
        reports = reports_at_hand(household, report, keys, state_dir)
        with scene.store.lock():
            taken = scene.take_snapshot(scene.look(), Kind.MANUAL, reports)
    show(taken.as_json(), version_lines(taken), format_)


@app.command("list", short_help="List the snapshots of this n8n, the newest first.")
def list_(
    format_: Format = FORMAT, inventory: Path | None = INVENTORY, state_dir: Path | None = STATE_DIR
) -> None:
    """List the snapshots of this n8n, the newest first: date, versions, and the report that vouches for each."""
    from butlerctl.deploy.render_text import snapshot_lines

    with opened(inventory, state_dir) as (_, scene):
        found = scene.store.all_snapshots()
    show([each.summary() for each in found], snapshot_lines(found), format_)
