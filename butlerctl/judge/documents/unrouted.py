"""Live workflows and runs whose names tell no route: what they show by themselves still counts."""

from __future__ import annotations

from collections.abc import Iterator

from butlerctl.judge.documents.reading import held_by
from butlerctl.judge.execution import Execution
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.run import Evidence


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Without a request only: with one, a document that is not known to be about it breaks nothing."""
    documents = evidence.of_kind("workflow_live", "execution") if evidence.bundle.intent is None else ()
    for document in documents:
        if evidence.route_of(document) is not None:
            continue
        cause = Execution(document).cause if document["kind"] == "execution" else None
        if cause:
            yield broken(
                cause.check, f"the run failed: {cause.words}", document, expected="a run that ends well"
            )
        saved, published = (held_by(document).get(key) for key in ("versionId", "activeVersionId"))
        if saved and published and saved != published:
            yield broken(
                "active.published_version",
                f"published is version {published}, saved is {saved}",
                document,
                expected="saved and published version are the same",
            )
