"""`butlerctl drift`: has anything moved? What n8n serves against the files and the last report; for timers."""

from __future__ import annotations

from pathlib import Path

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, STATE_DIR, Format
from butlerctl.cli.deploying import KEYS, opened, reports_at_hand, show, trusted_keys
from butlerctl.errors import ExitCode

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def drift(
    report: Path | None = typer.Option(
        None,
        "--report",
        help="A signed report to compare with; without it the newest PASS in the state folder.",
        metavar="FILE",
    ),
    keys: list[Path] = KEYS,
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Compare what n8n serves with the files and with the last report. Sends GETs only.

    Exit codes: 0 nothing drifted, 1 something did, 3 nothing did, but whether every webhook answers is not
    known, 75 n8n cannot be reached, 77 the API key may not, 78 bad input, or the report cannot speak about this n8n.
    """
    from butlerctl.deploy.drift import find_drift
    from butlerctl.deploy.render_text import drift_lines
    from butlerctl.deploy.report import VouchingReport, last_report, named_report

    with opened(inventory, state_dir) as (household, scene):
        last: VouchingReport | None
        if report is not None:
            names = [route.workflow_name for route in scene.exports]
            last = named_report(report, trusted_keys(keys, state_dir), scene.target, names)
        else:
            last = last_report(reports_at_hand(household, None, keys, state_dir), scene.target)
        found = find_drift(scene.look(listen=True).plan, last)
    drifted = any(each.findings for each in found)
    document = {
        "drifted": drifted,
        "report": last.as_json() if last else None,
        "routes": [each.as_json() for each in found],
    }
    show(document, drift_lines(found, last), format_)
    is_proven = not any(each.entry.unheard for each in found)
    raise typer.Exit(
        int(ExitCode.BROKEN if drifted else ExitCode.PROVEN if is_proven else ExitCode.NOT_PROVEN)
    )
