"""`butlerctl rollback`: the whole set back to a snapshot; `--check` only says whether that would work."""

from __future__ import annotations

from pathlib import Path

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, STATE_DIR, Format
from butlerctl.cli.deploying import opened_without_files, show

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def rollback(
    to: str = typer.Option(
        "",
        "--to",
        help="A snapshot: its id, the beginning of one, or a file. The newest without it.",
        metavar="SNAPSHOT",
    ),
    check: bool = typer.Option(False, "--check", help="Change nothing; say whether and how it would work."),
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Publish what n8n served when a snapshot was taken, for the whole set. Drafts in the editor stay.

    It needs the inventory, n8n and the snapshot: no workflow file, no placeholder's value, no room on the disk.

    Exit codes: 0 put back or nothing to do, 4 something could not be put back, or came back without a credential or a
    setting that n8n no longer has. Before anything is written: 75 n8n cannot be reached, 77 the API key may not, 78
    refused. With --check: 0 it would work, 1 it would not, or not as well as then.
    """
    from butlerctl.deploy import rollback as deployment
    from butlerctl.deploy.render_text import return_lines

    with opened_without_files(inventory, state_dir) as (_, ground):
        back = deployment.check(ground, to) if check else deployment.rollback(ground, to)
    show(back.as_json(), return_lines(back), format_)
    raise typer.Exit(int(back.exit_code))
