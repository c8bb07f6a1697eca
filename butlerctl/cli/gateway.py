"""`butlerctl gateway`: what the agent gateway offers, pins and does, and what it makes of misbehaviour."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, Format, find_and_load
from butlerctl.cli.documents import print_json
from butlerctl.errors import BadInput, ExitCode, UsageProblem

if TYPE_CHECKING:
    from butlerctl.inventory.model import Inventory
    from butlerctl.lab.conformance.case import Case
    from butlerctl.lab.conformance.outcome import Result
    from butlerctl.lab.conformance.recorded import Change

app = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, no_args_is_help=True
)


class Engine(StrEnum):
    STAND_IN = "stand-in"
    REAL = "real"


@app.callback()
def gateway() -> None:
    """The agent gateway: what it offers, pins and does."""


@app.command(short_help="Check tools, pins, model, jobs, plugin and real turns.")
def check(
    inventory: Path | None = INVENTORY,
    turn: bool = typer.Option(
        True, "--turn/--no-turn", help="Ask one real, reading question, in a conversation and in a job."
    ),
    lab: bool = typer.Option(False, "--lab", help="Start the embedded stack and check its gateway."),
    engine: Engine = typer.Option(
        Engine.STAND_IN, "--engine", help="With --lab: stand-ins, or the real n8n and OpenClaw from npm."
    ),
    conformance: bool = typer.Option(
        False, "--conformance", help="With --lab: let model and webhooks misbehave in every known way."
    ),
    only: list[str] = typer.Option(
        [], "--only", help="With --conformance: only these misbehaviours; may be repeated.", metavar="GLOB"
    ),
    page: Path | None = typer.Option(
        None, "--page", help="With --conformance: write the report page.", metavar="FILE"
    ),
    format_: Format = FORMAT,
) -> None:
    """Check tools, pins, model, jobs, plugin, each read route and one real turn in each lane.

    Nothing is written. A job that never starts by itself is made for the turn in the lane of jobs, and removed.

    --conformance needs no household gateway: a gateway of the lab stands between a scripted model and scripted
    webhooks, and what it makes of each misbehaviour is compared with the record of its version.

    Exit codes: 0 proven (what was skipped counts neither way), 1 broken, or worse than recorded, 3 not proven,
    75 the gateway does not answer, 77 not permitted, 78 bad input.
    """
    household = find_and_load(inventory)
    for option, given in (("--page", page is not None), ("--only", bool(only))):
        if given and not conformance:
            raise UsageProblem(f"{option} is a part of --conformance")
    if not lab and (conformance or engine is Engine.REAL):
        raise UsageProblem(
            f"{'--conformance' if conformance else '--engine real'} needs --lab",
            hint="a household's own gateway is neither replaced nor made to misbehave",
        )
    if conformance:
        raise typer.Exit(int(_conformance(household, _Misbehaviour(engine, only, page, format_))))
    with _household(household, engine, lab=lab) as target:
        raise typer.Exit(int(_check(target, format_, with_turn=turn)))


@contextmanager
def _household(inventory: Inventory, engine: Engine, *, lab: bool) -> Iterator[Inventory]:
    """The inventory to check: the operator's own, or the same household in a lab."""
    if not lab:
        yield inventory
        return
    from butlerctl.lab.stack import open_lab

    with open_lab(inventory, engine) as running:
        yield running.inventory


def _check(household: Inventory, format_: Format, *, with_turn: bool) -> ExitCode:
    from butlerctl.checks.gateway import look
    from butlerctl.checks.gateway_findings import exit_code, find
    from butlerctl.gateway.operator import Operator

    if household.gateway.kind != "openclaw":
        raise UsageProblem(
            "gateway check is for gateway.kind openclaw", hint="`butlerctl model check` is for the other kind"
        )
    token = household.gateway.token.get() if household.gateway.token else ""
    with Operator.connect(household.gateway.url.get(), token) as operator:
        facts = look(operator, household, with_turn=with_turn)
    findings = find(facts, household)
    if format_ is Format.JSON:
        print_json([finding.as_json() for finding in findings])
    else:
        for finding in findings:
            print(f"{finding.verdict:9}{finding.check}: {finding.seen}")
            if finding.hint:
                print(f"         hint: {finding.hint}")
    return exit_code(findings)


@dataclass(frozen=True, slots=True)
class _Misbehaviour:
    """What is asked of a conformance run."""

    engine: Engine
    only: list[str]
    page: Path | None
    format: Format


def _conformance(household: Inventory, asked: _Misbehaviour) -> ExitCode:
    from butlerctl.lab.conformance.page import line
    from butlerctl.lab.conformance.page import page as render
    from butlerctl.lab.conformance.recorded import STAND_IN, changes, load
    from butlerctl.lab.conformance.run import run_on_real, run_on_stand_in

    version, model = household.pins.gateway, household.pins.model
    if not version or not model:
        raise UsageProblem("conformance needs pins.gateway and pins.model in the inventory")
    is_real = asked.engine is Engine.REAL
    cases = _cases(asked.only, with_plugins=is_real)
    if asked.page is not None:
        _try_to_write(asked.page)
    name = f"OpenClaw {version}" if is_real else "the lab's own gateway"
    print(f"starting {name} for {len(cases)} misbehaviours", file=sys.stderr)
    results: list[Result] = []
    running = run_on_real(cases, version, model, os.environ) if is_real else run_on_stand_in(cases, model)
    for observed in running:
        results.append(observed.result)
        if asked.format is Format.TEXT:
            print(line(observed.result), flush=True)
    if asked.page is not None:
        asked.page.write_text(render(name, model, results), encoding="utf-8")
    recorded = load(version if is_real else STAND_IN)
    found = changes(results, recorded)
    _tell(name, results, found, asked.format, is_recorded=recorded is not None)
    return ExitCode.BROKEN if any(change.is_worse for change in found) else ExitCode.PROVEN


def _cases(patterns: list[str], *, with_plugins: bool) -> list[Case]:
    """The misbehaviours whose names match any of the globs; all without one.

    Raises:
        UsageProblem: a glob matches none.
    """
    from butlerctl.lab.conformance.catalogue import CASES

    applying = [case for case in CASES if with_plugins or not case.plugin]
    for pattern in patterns:
        if not any(fnmatchcase(case.id, pattern) for case in applying):
            why = "no misbehaviour" if with_plugins else "no misbehaviour that the lab's own gateway can meet"
            raise UsageProblem(f"{why} is called {pattern!r}")
    return [case for case in applying if not patterns or any(fnmatchcase(case.id, each) for each in patterns)]


def _tell(
    name: str, results: list[Result], found: tuple[Change, ...], format_: Format, *, is_recorded: bool
) -> None:
    from butlerctl.lab.conformance.page import summary

    if format_ is Format.JSON:
        document = {
            "gateway": name,
            "recorded": is_recorded,
            "results": [result.as_json() for result in results],
            "changes": [change.as_json() for change in found],
        }
        print_json(document)
        return
    print(f"{name}: {summary(results)}")
    if not is_recorded:
        print("there is no record of this version: whatever is harmful counts as worse")
    for change in found:
        print(change.line())
    if is_recorded and not found:
        print("as recorded")


def _try_to_write(page: Path) -> None:
    """A page that cannot be written is found before the run, not after it. What is there stays as it is."""
    is_new = not page.exists()
    try:
        page.open("ab").close()
        if is_new:
            page.unlink()
    except OSError as error:
        raise BadInput(
            f"{page}: cannot be written: {error.strerror}", hint="--page names the file of the report"
        ) from error
