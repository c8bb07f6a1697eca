"""Which placeholder needs a value where: what an operator wants to know before an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from butlerctl.workflows.document import read
from butlerctl.workflows.inputs import Input
from butlerctl.workflows.placeholders import placeholders_of
from butlerctl.workflows.positions import Locator
from butlerctl.workflows.rules.base import Known
from butlerctl.workflows.walk import pointer


class Use(NamedTuple):
    """One place that waits for a value."""

    file: str
    line: int
    column: int
    node: str
    pointer: str
    place: str


def token_uses(inputs: Sequence[Input]) -> dict[str, list[Use]]:
    """The places of each token, by the token's name without brackets. Unreadable files count as empty."""
    found: dict[str, list[Use]] = {}
    for item in inputs:
        try:
            reading = read(item.load(), item.file)
        except OSError:
            continue
        locator = Locator(reading.text)
        for member in reading.members:
            for placeholder in placeholders_of(member.document):
                path = (*member.path, *placeholder.path)
                line, column = locator.line_and_column(locator.token(path, placeholder.token).start)
                use = Use(item.file, line, column, placeholder.node, pointer(path), str(placeholder.place))
                found.setdefault(placeholder.name, []).append(use)
    return found


def as_json(uses: Mapping[str, Sequence[Use]], known: Mapping[str, Known]) -> list[dict[str, Any]]:
    return [
        {
            "token": name,
            "meaning": known[name].meaning if name in known else "",
            "reference": known[name].reference if name in known else "",
            "places": [place._asdict() for place in places],
        }
        for name, places in sorted(uses.items())
    ]


def as_text(uses: Mapping[str, Sequence[Use]], known: Mapping[str, Known]) -> str:
    lines = []
    for name, places in sorted(uses.items()):
        entry = known.get(name)
        lines.append(f"{name}: {entry.meaning if entry else 'nothing documents it'}")
        if entry:
            lines.append(f"  value: {entry.reference or 'not bound'}")
        lines.extend(
            f'  {use.file}:{use.line}:{use.column}  {use.place} in node "{use.node}"' for use in places
        )
    files = len({use.file for places in uses.values() for use in places})
    lines.append(f"{len(uses)} tokens in {files} files")
    return "\n".join(lines) + "\n"
