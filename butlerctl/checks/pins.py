"""The versions that the inventory fixes, beside those that were seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from butlerctl.inventory.model import Pins


@dataclass(frozen=True, slots=True)
class PinCheck:
    """One pin. `seen` is None where nobody tells what runs."""

    name: str
    pinned: str
    seen: str | None


def check_pins(pins: Pins, versions: Mapping[str, str]) -> Iterator[PinCheck]:
    """`versions` maps `n8n` and `gateway` to what they said themselves."""
    for name, pinned in (("n8n", pins.n8n), ("gateway", pins.gateway)):
        if pinned:
            yield PinCheck(name, pinned, versions.get(name))
