"""Two nodes of one workflow have the same name or id: every reference to them is ambiguous.

Connections and expressions find nodes by name.

Fix: rename one of them in n8n.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for key in ("name", "id"):
        seen: set[str] = set()
        for node in workflow.nodes:
            value = node.raw.get(key)
            if not isinstance(value, str) or not value:
                continue
            if value in seen:
                yield Hit(
                    f"two nodes have the {key} {value!r}",
                    (*node.path, key),
                    token=value,
                    node=node.name,
                    help="rename one of them in n8n and export again",
                )
            seen.add(value)


RULE = Rule("BW402", "two nodes of one name or id", Severity.ERROR, check=check)
