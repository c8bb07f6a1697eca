"""A URL that works on one machine or in the editor only: `/webhook-test/…`, `localhost`.

A test URL answers while somebody has the editor open and clicks; localhost is another machine once n8n runs in a
container.

Fix: use the production URL `/webhook/…` and a name that the server knows.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import compiled
from butlerctl.workflows.placeholders import STICKY_NOTE
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import CODE_TYPES, Workflow

_LOCAL = r"(?i)https?://(?:localhost|127\.0\.0\.1)\b[^\s\"'`<>)?]{0,80}|/webhook-test/[^\s\"'`<>)?]{0,80}"


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in workflow.nodes:
        if node.type == STICKY_NOTE or node.type in CODE_TYPES or node.disabled:
            continue
        for path, text in strings(node.parameters, (*node.path, "parameters")):
            match = compiled(_LOCAL).search(text) if len(text) < 2000 else None
            if match:
                what = "the editor's test URL" if "webhook-test" in match[0] else "this machine only"
                yield Hit(
                    f"{match[0]} reaches {what}",
                    path,
                    token=match[0],
                    node=node.name,
                    help="use the production URL and a name that the server knows",
                )


RULE = Rule(
    "BW601",
    "a URL that works in one place only",
    Severity.WARNING,
    check=check,
    needles=("webhook-test", "localhost", "127.0.0.1"),
)
