"""The node types that a known n8n has: `node_types.json`, written by tools/update_node_types.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


class NodeTypes:
    """The node types of n8n's own two packages at one version."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.n8n: str = table["n8n"]
        self._newest: Mapping[str, Mapping[str, float]] = table["newest"]
        self._retired: Mapping[str, list[str]] = table["retired"]

    def is_covered(self, node_type: str) -> bool:
        """Whether the type claims to come from one of the known packages."""
        return node_type.rpartition(".")[0] in self._newest

    def newest(self, node_type: str) -> float | None:
        """The newest version of a type; None for an unknown one. `…Tool` is a node offered to an agent."""
        package, _, name = node_type.rpartition(".")
        versions = self._newest.get(package, {})
        return versions.get(name) or versions.get(name.removesuffix("HitlTool").removesuffix("Tool"))

    def is_retired(self, node_type: str) -> bool:
        package, _, name = node_type.rpartition(".")
        return name in self._retired.get(package, ())

    def nearest(self, node_type: str) -> str:
        """The known type that is spelled almost like this one, or an empty text."""
        from difflib import get_close_matches

        package, _, name = node_type.rpartition(".")
        near = get_close_matches(name, self._newest.get(package, ()), n=1)
        return f"{package}.{near[0]}" if near else ""


@cache
def node_types() -> NodeTypes:
    return NodeTypes(json.loads(Path(__file__).with_name("node_types.json").read_text(encoding="utf-8")))
