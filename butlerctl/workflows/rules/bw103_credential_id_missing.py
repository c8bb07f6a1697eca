"""A credential without an id: null, empty or absent.

n8n imports the node without a credential, and refuses to activate it: "Credential not configured". With an
empty id and a matching name it binds silently to whatever has that name.

A warning outside the butler's contract in a node that no connection touches, which n8n does not check. Silent where
n8n's own AI gateway stands in for the credential.

Fix: choose the credential in n8n and export again.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import CREDENTIALED
from butlerctl.workflows.notations import IdShape
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import CredentialUse, Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for use in workflow.credential_uses:
        if use.shape is IdShape.MISSING and not use.node.disabled and not _is_of_the_gateway(use):
            yield Hit(
                f"the {use.kind} credential has no id",
                use.path,
                node=use.node.name,
                help="choose the credential in n8n and export again",
                severity=context.severity_if(not workflow.is_unchecked(use.node.name)),
            )
    for node in workflow.nodes:
        if node.type in CREDENTIALED and node.raw.get("credentials") == {} and not node.disabled:
            yield Hit(
                "the node needs a credential, and `credentials` is empty",
                (*node.path, "credentials"),
                node=node.name,
                help="choose the credential in n8n and export again",
                severity=context.severity_if(not workflow.is_unchecked(node.name)),
            )


def _is_of_the_gateway(use: CredentialUse) -> bool:
    """n8n's own AI gateway stands in for such a credential, which needs no id."""
    return bool(use.node.credentials[use.kind].get("__aiGatewayManaged"))


RULE = Rule("BW103", "credential id is missing", Severity.ERROR, check=check)
