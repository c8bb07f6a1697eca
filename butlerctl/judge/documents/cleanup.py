"""After the deletion: is the test object gone, and is nothing else of the test left?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge.asked import asked_of
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.readback import Reading, Stored
from butlerctl.judge.run import Evidence
from butlerctl.judge.written import matches

_WRITES = {operation.domain: operation.name for operation in OPERATIONS.values() if operation.writes}


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Each names the route that made the object."""
    for finding, reading in _left(evidence):
        yield replace(finding, route=Route(_WRITES[reading.domain], reading.profile))
    yield from _refused_deletions(evidence)


def _left(evidence: Evidence) -> Iterator[tuple[Finding, Reading]]:
    reads = [reading for reading in evidence.readings if reading.when == "after_delete" and reading.readable]
    before = {_key(item, reading) for reading in _at(evidence, "before") for item in reading.objects}
    told = [document.get("eventId") or document.get("taskId") for document in _deletions(evidence)]
    deleted = {str(name) for name in told if name}
    for reading in reads:
        for stored in reading.objects:
            if stored.id in deleted or reading.by_id:
                seen = f"the test object {stored.id} is still there"
                yield broken("cleanup.deleted", seen, reading.document, expected="gone"), reading
            elif _key(stored, reading) not in before and _is_of_the_test(evidence, reading, stored, deleted):
                check = "cleanup.leftover" if deleted else "cleanup.deleted"
                seen = f"{stored.id} of the test is still there"
                yield broken(check, seen, reading.document, expected="nothing of the test is left"), reading


def _refused_deletions(evidence: Evidence) -> Iterator[Finding]:
    """Deletions that Google refused, where nothing was read afterwards."""
    read = any(reading.when == "after_delete" and reading.readable for reading in evidence.readings)
    for document in _deletions(evidence) if not read else ():
        status = document.get("status")
        if isinstance(status, int) and status >= 400 and status not in {404, 410}:
            yield broken(
                "cleanup.deleted",
                f"Google answered the deletion with HTTP {status}",
                document,
                expected="204",
            )


def _is_of_the_test(evidence: Evidence, reading: Reading, stored: Stored, deleted: set[str]) -> bool:
    """What was asked for, came with the test when that is not told, or bears the title of what was deleted."""
    intent = evidence.bundle.intent
    if intent is None and _came_with_the_test(evidence, reading, stored):
        return True
    if intent and matches(
        stored, asked_of(intent.arguments, evidence.bundle.zone), frozenset(), reading.domain
    ):
        return True
    titles = {item.title for other in evidence.readings for item in other.objects if item.id in deleted}
    return bool(stored.title) and stored.title in titles


def _came_with_the_test(evidence: Evidence, reading: Reading, stored: Stored) -> bool:
    """Was it in the place after the turn and not before, or made since the turn began?"""
    place = (reading.profile, reading.place)
    after = [item for item in _at(evidence, "after") if (item.profile, item.place) == place]
    if not any(_key(item, reading) == _key(stored, reading) for other in after for item in other.objects):
        return False
    clock = evidence.bundle.clock
    if any((item.profile, item.place) == place for item in _at(evidence, "before")):
        return True
    return stored.touched is not None and clock is not None and stored.touched >= clock


def _at(evidence: Evidence, when: str) -> list[Reading]:
    return [reading for reading in evidence.readings if reading.when == when]


def _key(stored: Stored, reading: Reading) -> tuple[str, str, str]:
    return reading.profile, reading.place, str(stored.cells) if stored.cells else stored.id


def _deletions(evidence: Evidence) -> list[dict[str, object]]:
    return [
        dict(item) for item in evidence.of_kind("readback") if str(item.get("api", "")).endswith(".delete")
    ]
