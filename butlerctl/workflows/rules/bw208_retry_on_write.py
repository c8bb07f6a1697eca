"""*Retry On Fail* on a node that writes: when only the answer was lost, the object is written twice.

A dropped connection or a slow reply looks like a failure; Google has stored the event all the same.

Fix: switch the retry off and let the caller look before it asks again.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import google_nodes, writes
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in google_nodes(workflow):
        if node.raw.get("retryOnFail") is True and writes(node) and not node.disabled:
            yield Hit(
                "a retry of this write makes a second object when only the answer was lost",
                (*node.path, "retryOnFail"),
                node=node.name,
                help="switch Retry On Fail off for this node",
            )


RULE = Rule("BW208", "retry on a node that writes", Severity.WARNING, check=check)
