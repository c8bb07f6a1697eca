"""`butlerctl transcript`: judge recorded agent transcripts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from butlerctl.cli.common import FORMAT, Format
from butlerctl.cli.documents import print_json
from butlerctl.errors import ExitCode, combine

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)

_CODES = {"PASS": ExitCode.PROVEN, "FAIL": ExitCode.BROKEN, "UNKNOWN": ExitCode.NOT_PROVEN}


@app.command()
def transcript(
    files: list[Path] = typer.Argument(
        help="An OpenClaw session file, or an OpenAI chat, Responses or Anthropic transcript.",
        metavar="FILE...",
    ),
    intent: Path | None = typer.Option(
        None,
        "--intent",
        help="What was asked: an evidence bundle, or its intent object alone.",
        metavar="FILE",
    ),
    format_: Format = FORMAT,
) -> None:
    """Judge recorded agent transcripts: was there a call, is the reply true?

    A transcript alone never confirms anything: UNKNOWN at best.

    Exit codes: 1 FAIL, 3 UNKNOWN, over several transcripts 1 before 3; 78 something is no transcript.
    """
    from butlerctl.cli.views import judgement as view
    from butlerctl.evidence import Bundle, read_intent
    from butlerctl.gateway.transcripts import read_transcript
    from butlerctl.judge.transcript import judge_transcript

    asked = read_intent(intent) if intent else None
    judged = [(path, judge_transcript(read_transcript(path), asked)) for path in files]
    if format_ is Format.JSON:
        for _, judgement in judged:
            print_json(judgement.as_json(), indent=None)
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        shown = [
            view.as_text(Bundle(asked, name=str(path)), judgement, colour=colour)
            for path, judgement in judged
        ]
        print("\n\n".join(shown))
    raise typer.Exit(int(combine(_CODES[str(judgement.verdict)] for _, judgement in judged)))
