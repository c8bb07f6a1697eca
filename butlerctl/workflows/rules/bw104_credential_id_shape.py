"""A credential id that n8n did not make: neither 16 letters and digits, nor a number, nor a UUID.

Legal where credentials are imported by the CLI with ids of one's own; elsewhere it is a typing mistake.
`lint: {strict_ids: true}` in the inventory makes it a warning.

Fix: compare with the credential's address in n8n.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import IdShape
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for use in workflow.credential_uses:
        if use.shape is IdShape.ODD:
            yield Hit(
                f"credential id {use.id!r} is not one that n8n makes",
                use.path,
                token=str(use.id),
                node=use.node.name,
                help="compare it with the credential's address in n8n; ids chosen at a CLI import are legal",
                severity=Severity.WARNING if context.strict_ids else None,
            )


RULE = Rule("BW104", "credential id of an unusual shape", Severity.INFO, check=check)
