"""What the lab and its planted faults need of an agent gateway, whichever stands behind it."""

from __future__ import annotations

from typing import Protocol

from butlerctl.inventory.operations import Route


class GatewayPart(Protocol):
    """The stand-in, or the real OpenClaw."""

    def plant(self, kind: str, route: Route | None = None) -> None:
        """A fault of the plugin. Raises UsageProblem where it cannot be planted."""

    def close(self) -> None: ...
