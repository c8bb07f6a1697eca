"""`butlerctl roundtrip`: ask the agent, confirm in Google, delete, confirm gone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, ROUTES, STATE_DIR, Format, chosen_routes, find_and_load
from butlerctl.cli.documents import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from butlerctl.verify import Verification

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def roundtrip(
    routes: list[str] | None = ROUTES,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
    format_: Format = FORMAT,
) -> None:
    """Ask the agent for a dated test object, confirm it in Google by an own reading, delete it, confirm that it is gone.

    Judged as recorded evidence is: without the probes of `verify` the links `header` and `active` stay open.
    Exit codes as those of `verify`.
    """
    from butlerctl.cli.views.choose import view_for
    from butlerctl.redaction import redact, redact_text
    from butlerctl.state import state_folder
    from butlerctl.verify import Assignment, verify

    household = find_and_load(inventory)
    chosen = chosen_routes(household, routes)
    assignment = Assignment(chosen, state_folder(household.path, state_dir), probes=False)
    with view_for(chosen, watched=format_ is Format.TEXT and sys.stderr.isatty()) as view:
        result = verify(household, assignment, view)
    if format_ is Format.JSON:
        print_json(redact(_as_json(result)))
    else:
        print(redact_text("\n".join(_as_lines(result))))
    raise typer.Exit(_exit_code(result))


def _as_lines(result: Verification) -> Iterator[str]:
    from butlerctl.cli.views.outcome import route_lines

    for route in result.run.routes:
        judged = route.judgement
        yield f"{route.route}  {judged.verdict}, turn {judged.turn}, claim {judged.claim}"
        if judged.verdict == "FAIL":
            yield from route_lines(route)
    for left in result.run.leftovers:
        yield f"LEFT BEHIND: {left.what} {left.id} in {left.where} ({left.route}): {left.reason}"
    if not result.run.leftovers:
        yield "nothing was left behind in Google"


def _as_json(result: Verification) -> dict[str, object]:
    return {
        "routes": [
            {
                "operation": route.route.operation,
                "profile": route.route.profile,
                **route.judgement.as_json(),
            }
            for route in result.run.routes
        ],
        "leftovers": [
            f"{left.what} {left.id} in {left.where}: {left.reason}" for left in result.run.leftovers
        ],
    }


def _exit_code(result: Verification) -> int:
    from butlerctl.errors import ExitCode, combine
    from butlerctl.report.run import CODE_OF_VERDICT

    codes = [CODE_OF_VERDICT[route.judgement.verdict] for route in result.run.routes]
    codes += [ExitCode.LEFTOVER] if result.run.leftovers else []
    return int(combine([*codes, *result.own_codes]))
