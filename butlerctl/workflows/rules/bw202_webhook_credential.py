"""A webhook that is meant to be guarded, and cannot be: its credential is missing, or its mode is unknown.

Without the credential n8n answers every call 500 "No authentication data defined on node!".

Fix: choose the credential that belongs to the authentication, or one of n8n's modes: basicAuth, headerAuth, jwtAuth.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow

_CREDENTIAL_OF = {"basicAuth": "httpBasicAuth", "headerAuth": "httpHeaderAuth", "jwtAuth": "jwtAuth"}


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in workflow.webhooks:
        mode = node.parameters.get("authentication", "none")
        if node.disabled or mode in ("none", "", None):
            continue
        needed = _CREDENTIAL_OF.get(str(mode))
        if needed is None or needed not in node.credentials:
            yield Hit(
                f"{mode} needs a {needed} credential, and the node has none"
                if needed
                else f"unknown authentication {mode!r}",
                (*node.path, "parameters", "authentication"),
                node=node.name,
                help="choose the credential" if needed else "use headerAuth, basicAuth or jwtAuth",
            )


RULE = Rule("BW202", "a guarded webhook without its credential", Severity.ERROR, check=check)
