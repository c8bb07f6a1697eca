"""One line a finding: `file:line:column: CODE severity message`."""

from __future__ import annotations

from butlerctl.workflows.findings import Report
from butlerctl.workflows.formats import Options, one_line


def render(report: Report, options: Options) -> str:
    del options
    return "".join(
        f"{one_line(item.file)}:{item.line}:{item.column}: {item.code} {item.severity} {one_line(item.message)}\n"
        for item in report.findings
    )
