"""The workflows of the contract are guarded by different header credentials.

The plugin knows one secret. Where the credential differs, so may its value, and those routes answer 403.

Fix: choose the same Header Auth credential in every Webhook node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import IdShape, credential_id_shape
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.summary import Summary


def check_set(summaries: Sequence[Summary], context: Context) -> Iterable[tuple[Summary, Hit]]:
    del context
    uses = [
        (summary, use)
        for summary in summaries
        if summary.routes.any and not summary.archived
        for use in summary.header_credentials
        if credential_id_shape(use.value) is not IdShape.PLACEHOLDER
    ]
    counts: dict[str, int] = {}
    for _, use in uses:
        counts[use.value] = counts.get(use.value, 0) + 1
    usual = max(counts, key=lambda value: counts[value], default="")
    for summary, use in uses:
        if use.value != usual and summary.given:
            yield (
                summary,
                Hit(
                    f"the other webhooks are guarded by the header credential {usual}, this one by {use.value}",
                    use.at,
                    token=use.value,
                    node=use.node,
                    help="choose the same Header Auth credential everywhere",
                ),
            )


RULE = Rule("BW305", "webhooks guarded by different credentials", Severity.WARNING, check_set=check_set)
