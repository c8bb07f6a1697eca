"""`butlerctl: ignore BW203 -- reason` in the notes of a node; n8n keeps notes through every export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from butlerctl.workflows.findings import Finding
from butlerctl.workflows.notations import compiled
from butlerctl.workflows.rules.base import Hit
from butlerctl.workflows.walk import Path, pointer
from butlerctl.workflows.workflow import Workflow

_MARK = "butlerctl:"
_LINE = (
    r"(?i)butlerctl:[ \t]*ignore[ \t]+((?:BW\d{3})(?:[ \t]*,[ \t]*BW\d{3})*)(?:[ \t]*--[ \t]*(\S[^\n]*)?)?"
)


class Suppression(NamedTuple):
    """One code, silenced for one node. `path` leads to the notes, from the root of the file."""

    code: str
    node: str
    reason: str
    prefix: Path
    path: Path


def suppressions(workflow: Workflow) -> Iterator[Suppression]:
    if not workflow.source.holds_any((_MARK,)):
        return
    for node in workflow.nodes:
        notes = node.raw.get("notes")
        for match in compiled(_LINE).finditer(notes) if isinstance(notes, str) else ():
            path = (*workflow.prefix, *node.path, "notes")
            for code in match[1].upper().replace(",", " ").split():
                yield Suppression(code, node.name, (match[2] or "").strip(), workflow.prefix, path)


class Silenced(NamedTuple):
    """What suppressions did to the findings of a file. `idle` are complaints about suppressions themselves."""

    kept: list[Finding]
    suppressed: int
    idle: list[Hit]


def silence(findings: Sequence[Finding], given: Sequence[Suppression], codes: frozenset[str]) -> Silenced:
    """Apply the suppressions of a file. `codes` are those of the rules that ran.

    A finding without a node is silenced by the notes of any node of its workflow.
    """
    by_code: dict[str, list[Suppression]] = {}
    for item in given:
        by_code.setdefault(item.code, []).append(item)
    used: set[Suppression] = set()
    kept = []
    for finding in findings:
        by = [item for item in by_code.get(finding.code, ()) if _applies(item, finding)]
        used.update(by)
        if not by:
            kept.append(finding)
    idle = [hit for item in given if item.code in codes for hit in _complaints(item, used=item in used)]
    return Silenced(kept, len(findings) - len(kept), idle)


def _applies(item: Suppression, finding: Finding) -> bool:
    return finding.node in ("", item.node) and finding.pointer.startswith(pointer(item.prefix))


def _complaints(item: Suppression, *, used: bool) -> Iterator[Hit]:
    if not used:
        yield Hit(
            f"the suppression of {item.code} suppresses nothing",
            item.path,
            token=item.code,
            node=item.node,
            help="remove it, or it hides the next finding",
        )
    elif not item.reason:
        yield Hit(
            f"the suppression of {item.code} gives no reason",
            item.path,
            token=item.code,
            node=item.node,
            help=f"write: butlerctl: ignore {item.code} -- why",
        )
