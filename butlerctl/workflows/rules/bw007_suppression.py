"""A suppression that suppresses nothing, or that gives no reason.

`butlerctl: ignore BW203 -- switched on by hand in summer` in the notes of a node silences one rule there.
When the cause is gone the line should go as well, or it hides the next finding.

Fix: remove it, or add the reason after `--`.
"""

from __future__ import annotations

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Rule

# The engine yields these findings: only it knows what was suppressed.
RULE = Rule("BW007", "a suppression without effect or reason", Severity.WARNING)
