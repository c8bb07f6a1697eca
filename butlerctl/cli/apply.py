"""`butlerctl apply`: carry out a plan, the whole set or nothing of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, STATE_DIR, Format, duration
from butlerctl.cli.deploying import KEYS, opened, reports_at_hand, show, trusted_keys
from butlerctl.errors import BadDocument, UsageProblem

if TYPE_CHECKING:
    from butlerctl.deploy.plan import Plan
    from butlerctl.deploy.report import VouchingReport
    from butlerctl.deploy.scene import Scene
    from butlerctl.inventory.model import Inventory
    from butlerctl.inventory.operations import Route
    from butlerctl.report.keys import PublicKey

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)

_MAKE_ONE = "`butlerctl plan --out FILE` makes one"


@app.command()
def apply(
    plan: Path | None = typer.Argument(None, help="What `plan --out` wrote.", metavar="[PLANFILE]"),
    resume: bool = typer.Option(False, "--resume", help="Finish the deployment that was interrupted."),
    yes: bool = typer.Option(False, "--yes", help="Do not ask; needed where nobody can be asked."),
    require_report: Path | None = typer.Option(
        None, "--require-report", help="Only with this signed report about these workflows.", metavar="FILE"
    ),
    keys: list[Path] = KEYS,
    max_age: str = typer.Option(
        "24h", "--max-age", help="How old the report may be: 90s, 30m, 24h, 7d.", metavar="AGE"
    ),
    format_: Format = FORMAT,
    inventory: Path | None = INVENTORY,
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Carry out a plan, and only that: a snapshot first, each workflow checked on the wire, all back after a failure.

    A run that was begun with --require-report wants it again with --resume.

    Exit codes: 0 deployed or nothing to do, 1 failed and put back, or not everything answers, 3 nothing to resume,
    4 not everything could be put back, 130 interrupted and put back. Before anything is written: 75 n8n cannot be
    reached, 77 the API key may not, 78 refused.
    """
    from butlerctl.deploy import apply as deployment
    from butlerctl.deploy.render_text import result_lines

    if resume == (plan is not None):
        raise UsageProblem("apply needs a plan, or --resume and no plan", hint=_MAKE_ONE)
    planned = _read(plan) if plan else None
    age = duration("--max-age", max_age)
    with opened(inventory, state_dir) as (household, scene):
        required: tuple[VouchingReport, ...] = ()
        if require_report is not None:
            trusted = trusted_keys(keys, state_dir)
            required = (_required(require_report, trusted, age, household, scene),)
        if planned is None:
            result = deployment.resume(scene, has_report=bool(required))
        else:
            at_hand = reports_at_hand(household, None, keys, state_dir)
            _confirm(planned, yes=yes)
            result = deployment.apply(scene, planned, (*required, *at_hand), report_required=bool(required))
    show(result.as_json(), result_lines(result), format_)
    raise typer.Exit(int(result.exit_code))


def _read(path: Path) -> Plan:
    from butlerctl.deploy.plan import read_plan

    try:
        return read_plan(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadDocument(f"{path}: cannot be read: {error.strerror}", hint=_MAKE_ONE) from error
    except BadDocument as error:
        raise BadDocument(f"{path}: {error.message}", hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        raise BadDocument(f"{path}: is no JSON: {error}", hint=_MAKE_ONE) from error


def _confirm(plan: Plan, *, yes: bool) -> None:
    if yes or not plan.to_write:
        return
    if not sys.stdin.isatty():
        raise UsageProblem("nobody can be asked here", hint="give --yes to deploy without a question")
    for entry in plan.to_write:
        print(f"{entry.route}  {entry.status}", file=sys.stderr)
    typer.confirm(f"Deploy {len(plan.to_write)} workflows to {plan.target}?", abort=True, err=True)


def _required(
    file: Path, trusted: tuple[PublicKey, ...], max_age: timedelta, household: Inventory, scene: Scene
) -> VouchingReport:
    """Raises BadInput when the report does not vouch for what is to be deployed."""
    from butlerctl.deploy.report import require_report
    from butlerctl.lab.plan import plan_lab
    from butlerctl.report.policy import Policy

    if not trusted:
        raise UsageProblem(
            "--require-report needs --key PUB", hint="a report is only as good as a key you trust"
        )
    policy = Policy(
        trusted=trusted,
        max_age=max_age,
        target=scene.target,
        workflows=_digests(scene.exports),
        inventory_digest=household.digest,
    )
    return require_report(file, policy, lambda: _digests(plan_lab(household).workflows), datetime.now(UTC))


def _digests(exports: Mapping[Route, Mapping[str, Any]]) -> dict[str, str]:
    from butlerctl.workflows.digest import canonical_digest

    return {route.workflow_name: canonical_digest(export) for route, export in exports.items()}
