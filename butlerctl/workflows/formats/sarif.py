"""SARIF 2.1.0, for code scanning services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import butlerctl
from butlerctl.workflows.baseline import fingerprint
from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.formats import Options
from butlerctl.workflows.pages import page_of
from butlerctl.workflows.rules.base import Rule
from butlerctl.workflows.rules.registry import RULES

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report, options: Options) -> str:
    del options
    seen = {finding.code for finding in report.findings}
    run = {
        "tool": {
            "driver": {
                "name": "butlerctl",
                "semanticVersion": butlerctl.__version__,
                "rules": [_rule(rule) for rule in RULES if rule.code in seen],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not report.crashed}],
        "results": [_result(finding) for finding in report.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.summary},
        "help": {"text": page_of(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}\n{finding.help}".strip()},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.file)},
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endLine": finding.end_line,
                        "endColumn": finding.end_column,
                    },
                },
                "logicalLocations": [{"fullyQualifiedName": finding.pointer, "kind": "member"}],
            }
        ],
        "partialFingerprints": {"butlerctl/v1": fingerprint(finding, Path.cwd())},
    }


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
