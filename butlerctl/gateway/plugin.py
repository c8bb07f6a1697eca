"""The household's plugin as files: what it declares, and whether it is the one that ships with butlerctl."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLUGIN_ID = "fr4m3w0rk-tools"
MANIFEST = "openclaw.plugin.json"
_FILES = ("*.mjs", MANIFEST, "package.json", "package-lock.json")


@dataclass(frozen=True, slots=True)
class PluginFiles:
    """The files of one plugin folder. `digests` maps a name to the sha256 of its bytes; `manifest` is {} if none."""

    folder: Path
    manifest: Mapping[str, Any]
    digests: Mapping[str, str]

    @property
    def has_packages(self) -> bool:
        """Is the plugin's own package installed? Without it the gateway loads nothing, and says so only in its log."""
        return (self.folder / "node_modules" / "typebox").is_dir()


def shipped_plugin() -> Path | None:
    """The plugin's folder: beside the code in an installation, else in the checkout; None where it is in neither."""
    package = Path(__file__).parents[1]
    folders = (package / "FR4M3W0RK-tools", package.parent / "extensions" / "FR4M3W0RK-tools")
    return next((folder for folder in folders if (folder / MANIFEST).is_file()), None)


def read_plugin(folder: Path) -> PluginFiles | None:
    """The plugin in this folder of this machine; None when there is none, or it cannot be read."""
    try:
        paths = sorted({path for pattern in _FILES for path in folder.glob(pattern)})
        digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return PluginFiles(folder, manifest if isinstance(manifest, Mapping) else {}, digests)
