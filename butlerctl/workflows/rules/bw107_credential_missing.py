"""A Google node without a credential: n8n refuses to activate the workflow, or every call fails.

Copying a node between instances, or an export from a tool that strips credentials, leaves such nodes.

Outside a butler's workflow it is a warning where no connection touches the node: n8n's check before an activation
passes such a node over.

Fix: choose the credential in n8n and export again.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import CREDENTIALED
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for node in workflow.nodes:
        if node.type in CREDENTIALED and not node.disabled and node.raw.get("credentials") is None:
            yield Hit(
                "the node needs a credential and has none",
                node.path,
                node=node.name,
                help="choose the credential in n8n and export again",
                severity=context.severity_if(not workflow.is_unchecked(node.name)),
            )


RULE = Rule("BW107", "a node that needs a credential has none", Severity.ERROR, check=check)
