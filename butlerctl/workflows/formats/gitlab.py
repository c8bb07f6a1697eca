"""GitLab's code quality report (the Code Climate format)."""

from __future__ import annotations

import json
from pathlib import Path

from butlerctl.workflows.baseline import fingerprint
from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.formats import Options

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, options: Options) -> str:
    del options
    return json.dumps([_issue(finding) for finding in report.findings], indent=2) + "\n"


def _issue(finding: Finding) -> dict[str, object]:
    return {
        "description": finding.message,
        "check_name": finding.code,
        "fingerprint": fingerprint(finding, Path.cwd()),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": finding.file,
            "positions": {
                "begin": {"line": finding.line, "column": finding.column},
                "end": {"line": finding.end_line, "column": finding.end_column},
            },
        },
    }
