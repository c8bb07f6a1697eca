"""What the linter says: a finding with its exact place, and the report of a whole run.

Named tuples and not dataclasses: a commit hook pays for building each class on every start.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple


class Severity(IntEnum):
    """How bad, in rising order."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


# The ids under which the judge names findings in workflow files.
CHECK_IDS = {
    "BW101": "lint.placeholder",
    "BW102": "lint.placeholder",
    "BW105": "lint.placeholder",
    "BW203": "lint.inactive",
    "BW204": "lint.response_mode",
    "BW206": "lint.webhook_id",
    "BW207": "lint.ignore_bots",
    "BW209": "lint.on_error",
    "BW210": "lint.unique_path",
    "BW212": "lint.always_output",
    "BW304": "lint.profile",
    "BW604": "lint.env_access",
}


class Excerpt(NamedTuple):
    """The line of a finding, cut to a window, and where in it the caret stands (from 0)."""

    text: str
    caret: int
    width: int


class Finding(NamedTuple):
    """One finding. Lines and columns count from 1, columns in code points; the end is exclusive.

    `token` is what the finding is about, for merging and baselines: never a secret.
    """

    code: str
    severity: Severity
    message: str
    file: str
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1
    pointer: str = ""
    node: str = ""
    help: str = ""
    token: str = ""
    excerpt: Excerpt | None = None

    @property
    def check(self) -> str:
        """The check id under which the judge knows this finding: `lint.placeholder`, else `lint.bw401`."""
        return CHECK_IDS.get(self.code, f"lint.{self.code.lower()}")

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "pointer": self.pointer,
            "node": self.node,
            "help": self.help,
        }


class Report(NamedTuple):
    """One run. `checked` counts workflows, `skipped` files in which there was none to check."""

    findings: tuple[Finding, ...]
    checked: int
    skipped: int
    suppressed: int = 0
    in_baseline: int = 0
    crashed: bool = False
    files: tuple[str, ...] = ()

    def number_of(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)
