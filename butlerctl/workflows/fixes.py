"""The safe fixes, as edits of the text: every other byte of the file stays as it is."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any, NamedTuple

from butlerctl.workflows.document import Member, read
from butlerctl.workflows.positions import Locator, Span


class Edit(NamedTuple):
    """Replace a span of the text."""

    span: Span
    text: str


def fix(data: bytes, codes: frozenset[str]) -> bytes:
    """The file without what these rules found, as far as they have a safe fix.

    Files that are broken or not in UTF-8 come back unchanged.
    """
    reading = read(data, "")
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if reading.problem or mark + reading.text.encode("utf-8", "surrogatepass") != data:
        return data
    locator = Locator(reading.text)
    edits = [edit for member in reading.members for edit in _edits(member, codes, locator)]
    text = reading.text
    for edit in sorted(edits, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return (b"" if "BW002" in codes else mark) + text.encode("utf-8", "surrogatepass")


def _edits(member: Member, codes: frozenset[str], locator: Locator) -> Iterator[Edit]:
    path, document = member
    if "BW502" in codes and document.get("pinData"):
        yield Edit(locator.value((*path, "pinData")), "{}")
    if "BW503" in codes and document.get("shared"):
        yield Edit(locator.member_with_comma((*path, "shared")), "")
    if "BW504" in codes and _instance_id(document):
        yield Edit(locator.member_with_comma((*path, "meta", "instanceId")), "")


def _instance_id(document: dict[str, Any]) -> Any:
    meta = document.get("meta")
    return meta.get("instanceId") if isinstance(meta, dict) else None
