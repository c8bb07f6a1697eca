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
_LOCK = "package-lock.json"
_FILES = ("*.mjs", MANIFEST, "package.json", _LOCK)
_TREES = {
    "sha512-vj0afVtOfLQvv0GR0VxVagYxsXN64btL7Z9XoaG0ZggH3mruMMkOO6hXdgMsjCY3shZgEvooAWVeznQVs5c43w==": "ff724115c4a3232f5a82662d7e7fb533c7fe89225b5269f8eeee1f3115def93a",
}
"""`tree_digest` of what npm unpacks of an archive, by the archive's integrity in the lock (typebox 1.1.39)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of a plugin's configuration, as its manifest declares it."""

    type: str
    required: bool


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """A plugin's manifest as far as the gateway tells it; empty where it found no such plugin."""

    name: str
    description: str
    settings: Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Package:
    """An npm package of the plugin: its version, and the sha256 over all its files (`tree_digest`)."""

    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class PluginFiles:
    """The files of one plugin folder. `digests` maps a name to the sha256 of its bytes; `manifest` is {} if none.

    `written` has the time (seconds since 1970) at which each file's entry last changed, `packages` what is installed.
    """

    folder: Path
    manifest: Mapping[str, Any]
    digests: Mapping[str, str]
    written: Mapping[str, float]
    packages: Mapping[str, Package]


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package as the plugin's lock has it. `digest` is that of its files, empty for one that is not known here."""

    version: str
    digest: str


def declared_by(manifest: Mapping[str, Any]) -> PluginEntry:
    """What a gateway tells of a plugin with this manifest."""
    schema = manifest.get("configSchema") or {}
    required = schema.get("required") or ()
    return PluginEntry(
        name=str(manifest.get("name", "")),
        description=str(manifest.get("description", "")),
        settings={
            name: Setting(str(each.get("type", "")), name in required)
            for name, each in (schema.get("properties") or {}).items()
        },
    )


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
        written = {path.name: path.stat().st_ctime for path in paths}
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        packages = {path.parent.name: _package(path) for path in folder.glob("node_modules/*/package.json")}
    except (OSError, ValueError):
        return None
    known = manifest if isinstance(manifest, Mapping) else {}
    return PluginFiles(folder, known, digests, written, packages)


def locked_packages(folder: Path) -> dict[str, LockedPackage]:
    """What the lock beside the plugin wants installed. Raises OSError, ValueError for a lock that is none."""
    lock = json.loads((folder / _LOCK).read_text(encoding="utf-8"))
    return {
        place.removeprefix("node_modules/"): LockedPackage(
            str(package["version"]), _TREES.get(str(package.get("integrity")), "")
        )
        for place, package in lock["packages"].items()
        if place and not package.get("dev")
    }


def tree_digest(folder: Path) -> str:
    """sha256 (hex) over the names and contents of all files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def _package(description: Path) -> Package:
    version = json.loads(description.read_text(encoding="utf-8")).get("version", "")
    return Package(str(version), tree_digest(description.parent))
