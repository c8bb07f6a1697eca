"""Has anything moved since? What n8n publishes against the files and against the last report. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.deploy.plan import Entry, Plan, Status
from butlerctl.deploy.report import VouchingReport

_WORDS = {
    Status.CREATE: "n8n has no such workflow",
    Status.UPDATE: "n8n serves something else than the file",
    Status.PUBLISH: "the file is saved in n8n, and an older version is served",
    Status.ACTIVATE: "it is not published",
    Status.SAVE: "the editor still shows a version that was rolled back",
    Status.SILENT: "n8n says that it is published, and its webhook is not there",
    Status.DRAFT: "n8n holds an unpublished draft",
    Status.CONFLICT: "whose webhook this is, is not clear",
}


@dataclass(frozen=True, slots=True)
class Drift:
    """One route; without findings it is where it should be. `report` is the digest that the last report names."""

    entry: Entry
    report: str
    findings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        before = self.entry.before
        return {
            "route": str(self.entry.route),
            "id": self.entry.id,
            "file": self.entry.digest,
            "saved": before.saved,
            "published": before.published,
            "report": self.report,
            "findings": list(self.findings),
            "unheard": self.entry.unheard,
            "changes": [change.as_json() for change in self.entry.changes],
            "draft": [change.as_json() for change in self.entry.draft],
        }


def find_drift(plan: Plan, report: VouchingReport | None) -> tuple[Drift, ...]:
    """One for each route. Without a report only files and n8n are compared."""
    named: Mapping[str, str] = report.run.workflows if report else {}
    return tuple(_drift(entry, named.get(entry.route.workflow_name, "")) for entry in plan.entries)


def _drift(entry: Entry, reported: str) -> Drift:
    return Drift(entry, reported, tuple(_findings(entry, reported)))


def _findings(entry: Entry, reported: str) -> Iterator[str]:
    if entry.status is Status.DRAFT and entry.changes:
        yield _WORDS[Status.UPDATE]
    if entry.status is Status.SILENT and entry.draft:
        yield _WORDS[Status.DRAFT]
    if entry.status in _WORDS:
        yield _WORDS[entry.status] + (f" ({entry.silence})" if entry.silence else "")
    yield from entry.refusals if entry.status is not Status.DRAFT else ()
    if reported and entry.before.published and entry.before.published != reported:
        yield "n8n serves something else than the last report was about"
