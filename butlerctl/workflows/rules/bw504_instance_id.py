"""The id of the n8n instance stands in the file. Off unless asked for: it is a fingerprint, no secret.

Fix: remove it. `--fix` does, when this rule is selected.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    meta = workflow.document.get("meta")
    if isinstance(meta, dict) and meta.get("instanceId"):
        yield Hit(
            "the file names the n8n instance that it came from",
            ("meta", "instanceId"),
            at_key=True,
            help="--fix removes it",
        )


RULE = Rule(
    "BW504",
    "the id of the n8n instance",
    Severity.INFO,
    check=check,
    on=False,
    fix="removes `meta.instanceId`",
)
