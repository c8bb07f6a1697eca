"""How findings are written. Each format is a module with `render(report, options) -> str`."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from butlerctl.workflows.findings import Report, Severity

FORMATS = {
    "full": "butlerctl.workflows.formats.full",
    "concise": "butlerctl.workflows.formats.concise",
    "json": "butlerctl.workflows.formats.plain_json",
    "sarif": "butlerctl.workflows.formats.sarif",
    "github": "butlerctl.workflows.formats.github",
    "gitlab": "butlerctl.workflows.formats.gitlab",
    "junit": "butlerctl.workflows.formats.junit",
}
# These end with a line that counts; the others are read by programs, which count themselves.
FOR_PEOPLE = frozenset({"full", "concise"})


class Options(NamedTuple):
    """`fail_on` is the least severity that fails a test case in JUnit."""

    colour: bool = False
    fail_on: Severity = Severity.ERROR


def render(report: Report, name: str, options: Options) -> str:
    """The report in a format, each line ended."""
    text: str = import_module(FORMATS[name]).render(report, options)
    return text


def summary_line(report: Report) -> str:
    """`12 workflows checked, 0 skipped: 10 errors, 12 warnings`."""
    counts = [
        _count(report.number_of(severity), str(severity))
        for severity in (Severity.ERROR, Severity.WARNING)
        if report.number_of(severity)
    ]
    if report.number_of(Severity.INFO):
        counts.append(f"{report.number_of(Severity.INFO)} info")
    beside = [
        f"{number} {what}"
        for number, what in ((report.suppressed, "suppressed"), (report.in_baseline, "in the baseline"))
        if number
    ]
    checked = f"{_count(report.checked, 'workflow')} checked, {report.skipped} skipped"
    line = f"{checked}: {', '.join(counts) or 'no findings'}"
    return f"{line} ({', '.join(beside)})" if beside else line


def one_line(text: str) -> str:
    """Text from a file, safe for a terminal: nothing that moves the cursor or ends the line."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
