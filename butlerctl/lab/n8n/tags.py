"""The tags of the stand-in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from butlerctl.lab.n8n.clock import now_text
from butlerctl.lab.n8n.credentials import new_id
from butlerctl.lab.n8n.workflows import Refused


class Tags:
    """All tags by id, as the API shows them."""

    def __init__(self) -> None:
        self._all: dict[str, dict[str, Any]] = {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(list(self._all.values()))

    def add(self, name: str) -> dict[str, Any]:
        """Raises Refused 409 for a name that is taken."""
        if any(tag["name"] == name for tag in self):
            raise Refused(409, "Tag already exists")
        now = now_text()
        tag = {"name": name, "id": new_id(), "updatedAt": now, "createdAt": now}
        self._all[tag["id"]] = tag
        return tag

    def remove(self, tag_id: str) -> dict[str, Any]:
        """Raises Refused 404."""
        tag = self._all.pop(tag_id, None)
        if tag is None:
            raise Refused(404, "Not Found")
        return tag

    def of(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Those of these ids that are still there."""
        return [self._all[tag_id] for tag_id in ids if tag_id in self._all]

    def require(self, ids: Sequence[str]) -> list[str]:
        """The ids. Raises Refused 404 when one is unknown."""
        if not set(ids) <= self._all.keys():
            raise Refused(404, "Some tags not found")
        return list(ids)
