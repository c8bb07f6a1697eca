"""`butlerctl plan`: what a deployment would change, for the whole set; nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, STATE_DIR, Format
from butlerctl.cli.deploying import opened, show
from butlerctl.errors import BadInput, ExitCode

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def plan(
    out: Path | None = typer.Option(None, "--out", help="Write the plan here, for `apply`.", metavar="FILE"),
    overwrite_drafts: bool = typer.Option(
        False,
        "--overwrite-drafts",
        help="Let `apply` replace unpublished changes that somebody saved in n8n.",
    ),
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Compare the files with what n8n has saved, what it publishes, and where it listens. Sends GETs only.

    Exit codes: 0 in sync, 1 something differs, does not answer, or lies in n8n as an unpublished draft, 75 n8n cannot
    be reached, 77 the API key may not, 78 bad input.
    """
    from butlerctl.deploy.render_text import plan_lines

    with opened(inventory, state_dir) as (_, scene):
        found = scene.look(overwrite_drafts=overwrite_drafts, listen=True).plan
    document = found.as_json()
    if out is not None:
        _write(out, document)
    show(document, plan_lines(found), format_)
    raise typer.Exit(int(ExitCode.PROVEN if found.in_sync else ExitCode.BROKEN))


def _write(path: Path, document: Any) -> None:
    """Raises BadInput when it cannot be written, or something else than a plan is there."""
    try:
        if path.is_file() and not _holds_a_plan(path):
            raise BadInput(
                f"{path}: is there and is no plan; it is not written over", hint="choose another name"
            )
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: the plan cannot be written: {error.strerror}") from error


def _holds_a_plan(path: Path) -> bool:
    """Or nothing, or the beginning of one."""
    from butlerctl.deploy.plan import FORMAT as PLAN

    with path.open("rb") as file:
        beginning = file.read(80)
    return not beginning.strip() or PLAN.encode() in beginning
