"""Two workflows claim one method and path: only one of them is served.

n8n refuses to activate the second with 409, or, through other ways of activation, lets it take over silently
while both look active. Copies beside the originals and a wrong profile in a path are the usual causes. Files of
an archived workflow do not count. Outside a configured folder this is a warning: old versions may lie there.

Fix: give each route its own path, or archive one of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.summary import Hook, Summary


def check_set(summaries: Sequence[Summary], context: Context) -> Iterable[tuple[Summary, Hit]]:
    del context
    claims: dict[tuple[str, str], list[tuple[Summary, Hook]]] = {}
    for summary in summaries:
        for hook in summary.hooks:
            path = hook.path.strip("/")
            if path and not path.startswith("=") and not summary.archived:
                claims.setdefault((hook.method, path), []).append((summary, hook))
    for (method, path), claimants in claims.items():
        for index, (summary, hook) in enumerate(claimants):
            others = [claimant for at, claimant in enumerate(claimants[:5]) if at != index][:3]
            if others and summary.given:
                more = len(claimants) - 1 - len(others)
                yield summary, _hit(f"{method} {path}", summary, hook, others, more)


def _hit(route: str, summary: Summary, hook: Hook, others: list[tuple[Summary, Hook]], more: int) -> Hit:
    names = ", ".join(dict.fromkeys(_where(summary, other) for other in others))
    return Hit(
        f"{route} is claimed twice: also by {names}{f' and {more} more' if more else ''}",
        hook.at,
        token=route,
        node=hook.node,
        help="give each route its own path, or archive one of the two",
        severity=Severity.ERROR if summary.configured or summary.routes.by_path else None,
    )


def _where(summary: Summary, other: tuple[Summary, Hook]) -> str:
    there, hook = other
    return (
        f'node "{hook.node}"' if (there.file, there.prefix) == (summary.file, summary.prefix) else there.file
    )


RULE = Rule("BW210", "two workflows claim one method and path", Severity.WARNING, check_set=check_set)
