"""Where the inventory lies. Apart from its loader, so that finding it costs nothing."""

from __future__ import annotations

import os
from pathlib import Path

FILE_NAME = "inventory.yaml"


def chosen_inventory(path: Path | None) -> Path | None:
    """The one that was named: `path`, else BUTLERCTL_INVENTORY; else the nearest from the current folder upwards."""
    named = os.environ.get("BUTLERCTL_INVENTORY")
    return path or (Path(named) if named else find_inventory(Path.cwd()))


def find_inventory(start: Path) -> Path | None:
    """`inventory.yaml` in this folder or the nearest one above it."""
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / FILE_NAME).is_file():
            return candidate / FILE_NAME
    return None
