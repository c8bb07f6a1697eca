"""A secret stands in the file: a key, a token, a private key, the literal value of an authentication header.

Whoever can read the repository has it, and so has everybody who ever cloned it. The linter never prints it: the
message holds a fingerprint (the first 8 hex digits of its sha256), so that two places can be compared.

Fix: revoke it, put the new one into a credential of n8n, and refer to that.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.secrets import find_secrets
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for secret in find_secrets(workflow.document, workflow.source.suspects):
        in_node = secret.path[0] == "nodes" and len(secret.path) > 1
        yield Hit(
            f"{secret.kind} in plain text (sha256 {secret.fingerprint}…)",
            secret.path,
            token=secret.fingerprint,
            node=workflow.node_at(secret.path).name if in_node else "",
            help="revoke it, and put the new one into a credential of n8n",
            secret=True,
        )


RULE = Rule("BW501", "a secret in plain text", Severity.ERROR, check=check)
