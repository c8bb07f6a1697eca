"""What documents show by themselves, without a turn. One module a subject; this is the whole registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from butlerctl.judge.documents import cleanup, credentials, deployment, files, plugin, unrouted
from butlerctl.judge.finding import Finding
from butlerctl.judge.run import Evidence

_SUBJECTS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    plugin.findings,
    deployment.findings,
    credentials.findings,
    cleanup.findings,
    files.findings,
    unrouted.findings,
)


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Breaks that documents show; each names its check, which names the link."""
    for subject in _SUBJECTS:
        yield from subject(evidence)
