"""`butlerctl drift`: has anything moved? What n8n serves against the files and the last report; for timers."""

from __future__ import annotations

from pathlib import Path

import typer

from butlerctl.cli.common import Format
from butlerctl.cli.deploying import FORMAT, INVENTORY, KEYS, STATE_DIR, opened, reports_at_hand, show
from butlerctl.errors import ExitCode

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def drift(
    report: Path | None = typer.Option(
        None,
        "--report",
        help="The report to compare with; the newest of `verify` without it.",
        metavar="FILE",
    ),
    keys: list[Path] = KEYS,
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Compare what n8n serves with the files and with the last report. Sends GETs only.

    Exit codes: 0 nothing drifted, 1 something did.
    """
    from butlerctl.deploy.drift import find_drift
    from butlerctl.deploy.render_text import drift_lines

    with opened(inventory, state_dir) as (household, scene):
        reports = [
            each
            for each in reports_at_hand(household, report, keys, state_dir)
            if report is not None or each.run.target.rstrip("/") == scene.target
        ]
        last = reports[0] if reports else None
        found = find_drift(scene.look().plan, last)
    drifted = any(each.findings for each in found)
    document = {
        "drifted": drifted,
        "report": last and last.as_json(),
        "routes": [each.as_json() for each in found],
    }
    show(document, drift_lines(found, last), format_)
    raise typer.Exit(int(ExitCode.BROKEN if drifted else ExitCode.PROVEN))
