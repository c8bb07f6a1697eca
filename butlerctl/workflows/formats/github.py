"""Workflow commands of GitHub Actions: annotations beside the changed lines."""

from __future__ import annotations

from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.formats import Options, one_line

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, options: Options) -> str:
    del options
    return "".join(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    properties = {
        "file": finding.file,
        "line": finding.line,
        "col": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
        "title": finding.code,
    }
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    help_text = f" ({finding.help})" if finding.help else ""
    return f"::{_LEVELS[finding.severity]} {shown}::{_data(one_line(finding.message + help_text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
