"""For a person: each finding with the line it stands on, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.formats import Options, one_line

_COLOURS = {Severity.ERROR: "31;1", Severity.WARNING: "33;1", Severity.INFO: "36;1"}


def render(report: Report, options: Options) -> str:
    return "".join(f"{line}\n" for finding in report.findings for line in (*_block(finding, options), ""))


def _block(finding: Finding, options: Options) -> Iterator[str]:
    def paint(text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if options.colour else text

    colour = _COLOURS[finding.severity]
    yield f"{paint(f'{finding.severity}[{finding.code}]', colour)} {one_line(finding.message)}"
    node = f'   (node "{one_line(finding.node)}")' if finding.node else ""
    yield f"  --> {one_line(finding.file)}:{finding.line}:{finding.column}{node}"
    if finding.excerpt and finding.excerpt.text.strip():
        number = str(finding.line)
        margin = " " * len(number)
        carets = " " * finding.excerpt.caret + "^" * finding.excerpt.width
        yield f"{margin} |"
        yield f"{number} | {one_line(finding.excerpt.text)}"
        yield f"{margin} | {paint(carets, colour)}"
    if finding.help:
        yield f"   = help: {one_line(finding.help)}   (butlerctl lint-workflows --rule {finding.code})"
