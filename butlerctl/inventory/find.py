"""Where the inventory lies. Apart from its loader, so that finding it costs nothing."""

from __future__ import annotations

from pathlib import Path

FILE_NAME = "inventory.yaml"


def find_inventory(start: Path) -> Path | None:
    """`inventory.yaml` in this folder or the nearest one above it."""
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / FILE_NAME).is_file():
            return candidate / FILE_NAME
    return None
