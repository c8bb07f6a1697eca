"""A credential without an id: null, empty or absent.

n8n imports the node without a credential, and refuses to activate it: "Credential not configured". With an
empty id and a matching name it binds silently to whatever has that name.

Fix: choose the credential in n8n and export again.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import CREDENTIALED
from butlerctl.workflows.notations import IdShape
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for use in workflow.credential_uses:
        if use.shape is IdShape.MISSING and not use.node.disabled:
            yield Hit(
                f"the {use.kind} credential has no id",
                use.path,
                node=use.node.name,
                help="choose the credential in n8n and export again",
            )
    for node in workflow.nodes:
        if node.type in CREDENTIALED and node.raw.get("credentials") == {} and not node.disabled:
            yield Hit(
                "the node needs a credential, and `credentials` is empty",
                (*node.path, "credentials"),
                node=node.name,
                help="choose the credential in n8n and export again",
            )


RULE = Rule("BW103", "credential id is missing", Severity.ERROR, check=check)
