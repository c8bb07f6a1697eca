"""What a handler of a method gets, and how handlers are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.lab.google.store import Store
from butlerctl.lab.google.switches import Knobs, Switches


@dataclass(frozen=True, slots=True)
class Call:
    """One request that was routed, authorised and validated."""

    user: str
    parameters: Mapping[str, Any]
    """Values of path and query, typed; repeated parameters are lists."""
    body: dict[str, Any]
    if_match: str | None
    store: Store
    switches: Switches
    knobs: Knobs

    def get(self, name: str, default: Any = None) -> Any:
        return self.parameters.get(name, default)


# Returns the response document; None is an empty 204.
Handler = Callable[[Call], dict[str, Any] | None]
