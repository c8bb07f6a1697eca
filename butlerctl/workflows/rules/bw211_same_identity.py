"""Two files hold a workflow of the same id or name: one import overwrites the other.

`n8n import:workflow` replaces the workflow that has the id. Tools that map files to workflows by name cannot
tell two of one name apart.

Fix: export one of them again, or rename it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.summary import Summary


def check_set(summaries: Sequence[Summary], context: Context) -> Iterable[tuple[Summary, Hit]]:
    del context
    for what in ("id", "name"):
        first: dict[str, Summary] = {}
        for summary in summaries:
            value = getattr(summary, what)
            if not value or summary.archived:
                continue
            before = first.setdefault(value, summary)
            if before is not summary and summary.given:
                yield (
                    summary,
                    Hit(
                        f"another workflow has the {what} {value!r}: {before.file}",
                        (what,),
                        token=f"{what} {value}",
                        help="export it again or rename it: an import overwrites by id",
                    ),
                )


RULE = Rule("BW211", "two workflows of one id or name", Severity.WARNING, check_set=check_set)
