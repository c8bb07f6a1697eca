"""The folder does not hold exactly the routes of the inventory: one is missing, or one too many.

"Twelve workflows deployed" is only true when there are twelve. Checked when the whole configured folder is
linted.

Fix: add the export of the missing route; remove the surplus one, or add its operation or profile to the inventory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.summary import Summary


def check_set(summaries: Sequence[Summary], context: Context) -> Iterable[tuple[Summary | None, Hit]]:
    configured = [summary for summary in summaries if summary.configured and not summary.archived]
    if context.complete and context.contract.routes:
        yield from _missing(configured, context)
    for summary in configured:
        if summary.given and summary.routes.any is None:
            yield from _surplus(summary, context)


def _missing(configured: Sequence[Summary], context: Context) -> Iterable[tuple[None, Hit]]:
    served = {route for summary in configured for route in summary.routes if route}
    for route in context.contract.routes or ():
        if route not in served:
            path = route.webhook_path(context.contract.prefix)
            yield (
                None,
                Hit(
                    f"no workflow serves {route}: POST {path}",
                    token=str(route),
                    help=f"add {route.workflow_file} to the workflow folder",
                ),
            )


def _surplus(summary: Summary, context: Context) -> Iterable[tuple[Summary, Hit]]:
    prefix = context.contract.prefix
    for hook in summary.hooks:
        if prefix and hook.path.strip("/").casefold().startswith(prefix.casefold() + "/"):
            from difflib import get_close_matches

            near = get_close_matches(hook.path, context.contract.by_path, n=1, cutoff=0.85)
            yield (
                summary,
                Hit(
                    f"{hook.path} is no route of the inventory",
                    hook.at,
                    token=hook.path,
                    node=hook.node,
                    help=f"did you mean {near[0]}?" if near else "remove it, or add its operation or profile",
                ),
            )


RULE = Rule("BW301", "routes of the inventory missing or surplus", Severity.ERROR, check_set=check_set)
