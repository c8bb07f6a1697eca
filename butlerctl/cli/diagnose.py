"""`butlerctl diagnose`: judge recorded evidence."""

from __future__ import annotations

import os
import sys
from enum import StrEnum

import typer

from butlerctl.cli.documents import print_json
from butlerctl.errors import ExitCode, combine

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


@app.command()
def diagnose(
    bundles: list[str] = typer.Argument(
        help="A bundle file, a folder (its bundle.json, or its *.json), or - for standard input.",
        metavar="BUNDLE...",
    ),
    format_: Format = typer.Option(Format.TEXT, "--format", help="How to print the judgement."),
) -> None:
    """Judge recorded evidence and name the first broken link.

    Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, over several bundles the worst; 78 something is no bundle.
    """
    from butlerctl.cli.views import judgement as view
    from butlerctl.evidence import read_bundles
    from butlerctl.judge import judge

    judged = [(bundle, judge(bundle)) for source in bundles for bundle in read_bundles(source)]
    match format_:
        case Format.JSON:
            for _, judgement in judged:
                print_json(judgement.as_json(), indent=None)
        case Format.JUNIT:
            sys.stdout.write(view.as_junit(judged))
        case Format.TEXT:
            colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
            print("\n\n".join(view.as_text(bundle, judgement, colour=colour) for bundle, judgement in judged))
            if len(judged) > 1:
                print(f"\n{view.count(judgement for _, judgement in judged)}")
    raise typer.Exit(int(combine(_CODES[str(judgement.verdict)] for _, judgement in judged)))


_CODES = {"PASS": ExitCode.PROVEN, "FAIL": ExitCode.BROKEN, "UNKNOWN": ExitCode.NOT_PROVEN}
