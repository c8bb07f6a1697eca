"""`butlerctl lint-workflows`: the linter of n8n exports, and the commit hook."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from butlerctl.cli.common import INVENTORY
from butlerctl.errors import ExitCode, SecretMissing, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from butlerctl.workflows.findings import Report
    from butlerctl.workflows.household import Household
    from butlerctl.workflows.settings import LintSettings

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


class Format(StrEnum):
    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"


class FailOn(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@app.command()
def lint_workflows(
    paths: list[str] = typer.Argument(
        None, metavar="[PATH]...", help="Files and folders; - is standard input."
    ),
    inventory: Path | None = INVENTORY,
    format_: Format = typer.Option(Format.FULL, "--format", help="How to print the findings."),
    select: list[str] = typer.Option(
        [], help="Only these rules: codes or prefixes, with commas.", metavar="CODES"
    ),
    ignore: list[str] = typer.Option([], help="Not these rules.", metavar="CODES"),
    per_file_ignores: list[str] = typer.Option(
        [], help="Not these rules in some files.", metavar="GLOB:CODES"
    ),
    pedantic: bool = typer.Option(False, "--pedantic", help="Also the rules that are off by default."),
    fail_on: FailOn = typer.Option(FailOn.ERROR, help="The least severity that makes the exit code 1."),
    exit_zero: bool = typer.Option(False, "--exit-zero", help="Findings do not count: a survey."),
    bound: bool = typer.Option(False, "--bound", help="Lint the exports as `apply` would render them."),
    placeholders: bool = typer.Option(False, "--placeholders", help="List each placeholder and its places."),
    rule: str = typer.Option("", help="Print the page of a rule, or a list of `all`.", metavar="CODE"),
    baseline: Path | None = typer.Option(
        None, help="Leave out the findings that this file knows.", metavar="FILE"
    ),
    write_baseline: bool = typer.Option(
        False, "--write-baseline", help="Make --baseline FILE of the findings."
    ),
    fix: bool = typer.Option(False, "--fix", help="Make the safe edits, then lint."),
    diff: bool = typer.Option(False, "--diff", help="Show the safe edits and make none."),
    from_hook: bool = typer.Option(
        False, "--from-hook", help="Called by a commit hook: skip other JSON files."
    ),
) -> None:
    """Lint n8n workflow exports: placeholders, routes, credentials, answers, leaks.

    Without PATH the workflow folder of the inventory is linted. With PATH no inventory is needed: any
    repository of n8n workflows will do. A line `butlerctl: ignore BW203 -- reason` in the notes of a node
    silences a rule there.

    Exit codes: 0 clean, 1 a finding at or above --fail-on, or with --diff an edit to make, 3 nothing was checked,
    70 a rule crashed and the others went on, 78 bad inventory or baseline.
    """
    if rule:
        _print(_rule_text(rule))
        return
    with _collector_off():
        household = _household(inventory)
        names = [path for path in paths or [] if path != "-"]
        stdin = sys.stdin.buffer.read() if paths and "-" in paths else None
        if not paths and household is None:
            raise UsageProblem(
                "no PATH, and no inventory here or above", hint="name files or folders to lint"
            )
        settings = _selected(household, select, ignore, per_file_ignores)._replace(
            pedantic=pedantic,
            everywhere=inventory is not None,
            from_hook=from_hook,
            bindings=_bindings(household) if bound and household else {},
        )
        if placeholders:
            _print(_placeholder_text(names, settings, as_json=format_ is Format.JSON))
            return
        if diff:
            raise typer.Exit(int(ExitCode.BROKEN if _fix(names, settings, write=False) else ExitCode.PROVEN))
        if fix:
            _fix(names, settings, write=True)
        report = _lint(names, settings, stdin, baseline, write=write_baseline)
        _show(report, format_, fail_on)
    if from_hook and not (report.checked or report.findings):
        return  # a commit of other JSON files is none of the hook's business
    survey = exit_zero or write_baseline or format_ is Format.SARIF
    raise typer.Exit(_exit_code(report, fail_on, survey=survey))


@contextmanager
def _collector_off() -> Iterator[None]:
    """Parsed JSON has no cycles: the collector would only look at it again and again.

    What is there at the end is left out of its last round, which costs a tenth of a short run.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _household(path: Path | None) -> Household | None:
    from butlerctl.inventory.find import chosen_inventory
    from butlerctl.workflows.household_cache import read_household

    found = chosen_inventory(path)
    return None if found is None else read_household(found)


def _selected(
    household: Household | None, select: Sequence[str], ignore: Sequence[str], per_file: Sequence[str]
) -> LintSettings:
    """The command line before the inventory before the defaults; ignores of both add up."""
    from butlerctl.workflows.selection import check_codes
    from butlerctl.workflows.settings import LintSettings

    patterns: dict[str, Sequence[str]] = {}
    if household:
        select = select or household.select
        ignore = (*ignore, *household.ignore)
        patterns.update(household.per_file_ignores)
    patterns.update(_pairs(per_file))
    return LintSettings(
        select=check_codes(_split(select)),
        ignore=check_codes(_split(ignore)),
        per_file_ignores={pattern: check_codes(codes) for pattern, codes in patterns.items()},
        household=household,
    )


def _bindings(household: Household) -> Mapping[str, str]:
    """The values that are there; a token whose reference leads nowhere stays a finding."""
    from butlerctl.inventory.loader import load_inventory

    bindings = {}
    for token, placeholder in load_inventory(household.file, os.environ).workflows.placeholders.items():
        try:
            if placeholder.value is not None:
                bindings[token] = placeholder.value.get()
        except SecretMissing as error:
            print(f"not bound: {error.message}", file=sys.stderr)
    return bindings


def _lint(
    names: list[str], settings: LintSettings, stdin: bytes | None, baseline: Path | None, *, write: bool
) -> Report:
    from butlerctl.workflows.baseline import without_known
    from butlerctl.workflows.baseline import write as write_baseline
    from butlerctl.workflows.engine import lint_paths

    report = lint_paths(names, settings, stdin=stdin)
    if write:
        if baseline is None:
            raise UsageProblem("--write-baseline needs --baseline FILE")
        write_baseline(report, baseline)
    return without_known(report, baseline) if baseline else report


def _show(report: Report, format_: Format, fail_on: FailOn) -> None:
    from butlerctl.workflows.findings import Severity
    from butlerctl.workflows.formats import FOR_PEOPLE, Options, render, summary_line

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    _print(render(report, format_, Options(colour, Severity[fail_on.upper()])))
    print(summary_line(report), file=sys.stdout if format_ in FOR_PEOPLE else sys.stderr)


def _exit_code(report: Report, fail_on: FailOn, *, survey: bool) -> int:
    from butlerctl.workflows.engine import exit_code
    from butlerctl.workflows.findings import Severity

    return int(exit_code(report, Severity[fail_on.upper()], findings_count=not survey))


def _fix(names: list[str], settings: LintSettings, *, write: bool) -> int:
    """Make or show the safe edits; the number of files that they change."""
    from butlerctl.workflows.fixing import fix_files

    changes = fix_files(names, settings, write=write)
    for change in changes:
        if write:
            print(f"fixed {change.file}: {', '.join(sorted(change.codes))}", file=sys.stderr)
        else:
            _print(change.diff())
    return len(changes)


def _placeholder_text(names: list[str], settings: LintSettings, *, as_json: bool) -> str:
    import json

    from butlerctl.workflows import tokens
    from butlerctl.workflows.inputs import expand, shown

    household = settings.household
    if not names and household:
        names = [shown(household.directory)]
    uses = tokens.token_uses(list(expand(names, named=True)))
    known = household.placeholders if household else {}
    if as_json:
        return json.dumps(tokens.as_json(uses, known), indent=2) + "\n"
    return tokens.as_text(uses, known)


def _rule_text(code: str) -> str:
    from butlerctl.workflows.pages import index, page
    from butlerctl.workflows.rules.registry import RULES

    if code.lower() == "all":
        return index()
    for rule in RULES:
        if rule.code == code.upper():
            return page(rule)
    raise UsageProblem(f"there is no rule {code}", hint="`lint-workflows --rule all` lists them")


def _split(codes: Sequence[str]) -> list[str]:
    return [code for text in codes for code in text.split(",")]


def _pairs(texts: Sequence[str]) -> list[tuple[str, list[str]]]:
    pairs = []
    for text in texts:
        pattern, colon, codes = text.rpartition(":")
        if not colon:
            raise UsageProblem(f"--per-file-ignores {text}: write GLOB:CODES")
        pairs.append((pattern, codes.split(",")))
    return pairs


def _print(text: str) -> None:
    """Write to stdout whatever the file held: what the terminal cannot show is escaped."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
