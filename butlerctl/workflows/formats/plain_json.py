"""One JSON object: the findings, and how many workflows were checked and files skipped."""

from __future__ import annotations

import json

from butlerctl.workflows.findings import Report
from butlerctl.workflows.formats import Options


def render(report: Report, options: Options) -> str:
    del options
    document = {
        "findings": [finding.as_json() for finding in report.findings],
        "checked": report.checked,
        "skipped": report.skipped,
    }
    return json.dumps(document, indent=2) + "\n"
