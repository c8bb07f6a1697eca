"""`butlerctl gateway`: what the agent gateway offers, pins and does, and what it makes of misbehaviour."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from butlerctl.cli.common import Format, find_and_load
from butlerctl.errors import ExitCode, UsageProblem

if TYPE_CHECKING:
    from butlerctl.inventory.model import Inventory
    from butlerctl.lab.conformance.outcome import Observed

app = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, no_args_is_help=True
)


@app.callback()
def gateway() -> None:
    """The agent gateway: what it offers, pins and does."""


@app.command(short_help="Check tools, pins, model, plugin and one real turn.")
def check(
    inventory: Path | None = typer.Option(None, "--inventory", help="The household.", metavar="FILE"),
    turn: bool = typer.Option(True, "--turn/--no-turn", help="Ask the agent one real, reading question."),
    plugin: Path | None = typer.Option(None, "--plugin", help="The gateway's plugin folder.", metavar="DIR"),
    conformance: bool = typer.Option(
        False,
        "--conformance",
        help="Start the pinned gateway in the lab and let model and webhooks misbehave.",
    ),
    page: Path | None = typer.Option(
        None, "--page", help="With --conformance: write the report page.", metavar="FILE"
    ),
    format_: Format = typer.Option(Format.TEXT, "--format", help="How to answer."),
) -> None:
    """Check tools, pins, model, cron retries, plugin, each read route and one real turn. Nothing is written.

    --conformance leaves the household's gateway alone: it installs the pinned version from npm and runs it on
    loopback between a scripted model and scripted webhooks.
    """
    household = find_and_load(inventory)
    if page is not None and not conformance:
        raise UsageProblem("--page is a part of --conformance")
    if conformance:
        raise typer.Exit(int(_conformance(household, page, format_)))
    raise typer.Exit(int(_check(household, plugin, format_, with_turn=turn)))


def _check(household: Inventory, plugin: Path | None, format_: Format, *, with_turn: bool) -> ExitCode:
    from butlerctl.checks.gateway import look
    from butlerctl.checks.gateway_findings import exit_code, find
    from butlerctl.gateway.operator import Operator

    if household.gateway.kind != "openclaw":
        raise UsageProblem("gateway.kind is not openclaw: butlerctl model check is for the other kind")
    token = household.gateway.token.get() if household.gateway.token else ""
    with Operator.connect(household.gateway.url.get(), token) as operator:
        facts = look(operator, household, plugin_folder=plugin, with_turn=with_turn)
    findings = find(facts, household)
    if format_ is Format.JSON:
        print(json.dumps([finding.as_json() for finding in findings], indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            print(f"{finding.verdict:9}{finding.check}: {finding.seen}")
            if finding.hint:
                print(f"         hint: {finding.hint}")
    return exit_code(findings)


def _conformance(household: Inventory, page: Path | None, format_: Format) -> ExitCode:
    from butlerctl.lab.conformance.catalogue import CASES
    from butlerctl.lab.conformance.page import line, summary
    from butlerctl.lab.conformance.page import page as render
    from butlerctl.lab.conformance.run import real_bench, run_case

    version, model = household.pins.gateway, household.pins.model
    if not version or not model:
        raise UsageProblem("conformance needs pins.gateway and pins.model in the inventory")
    print(f"starting OpenClaw {version} for {len(CASES)} misbehaviours", file=sys.stderr)
    results: list[Observed] = []
    with real_bench(version, model, os.environ) as bench:
        for case in CASES:
            results.append(run_case(bench, case))
            if format_ is Format.TEXT:
                print(line(results[-1]), flush=True)
    if page is not None:
        page.write_text(render(version, model, results), encoding="utf-8")
    if format_ is Format.JSON:
        print(json.dumps([result.as_json() for result in results], indent=2))
    else:
        print(f"OpenClaw {version}: {summary(results)}")
    harmful = any(result.is_harmful for result in results)
    return ExitCode.BROKEN if harmful else ExitCode.PROVEN
