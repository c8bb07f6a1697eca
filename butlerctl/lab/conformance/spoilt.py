"""Copies of the household's plugin that are spoilt in one way each, for the real gateway to load."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.gateway.plugin import MANIFEST, PLUGIN_ID

MIXED_CASE_ID = "FR4M3W0RK-tools"
_CARELESS = Path(__file__).with_name("careless.mjs")


@dataclass(frozen=True, slots=True)
class Spoilt:
    """`spoil` changes the copy in a folder, `revise` the gateway's configuration with it."""

    spoil: Callable[[Path], None]
    revise: Callable[[dict[str, Any]], None] | None = None


def spoilt_copy(name: str, plugin: Path, folder: Path) -> Path:
    """The copy of this name, of a plugin with its packages, below `folder`."""
    copy = folder / plugin.name
    shutil.copytree(plugin, copy)
    SPOILT[name].spoil(copy)
    return copy


def _without_contracts(folder: Path) -> None:
    _edit_manifest(folder, lambda manifest: manifest.pop("contracts"))


def _without_packages(folder: Path) -> None:
    shutil.rmtree(folder / "node_modules")


def _mixed_case_id(folder: Path) -> None:
    for name in (MANIFEST, "index.mjs"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace(PLUGIN_ID, MIXED_CASE_ID), encoding="utf-8")


def _configure_mixed_case_id(config: dict[str, Any]) -> None:
    plugins = config["plugins"]
    plugins["allow"] = [MIXED_CASE_ID]
    plugins["entries"] = {MIXED_CASE_ID: plugins["entries"][PLUGIN_ID]}
    config["agents"]["list"][0]["tools"]["allow"] = [MIXED_CASE_ID]


def _careless(folder: Path) -> None:
    """Its manifest names the tool that is called like one of the gateway's, and forgets one of the six."""
    shutil.copyfile(_CARELESS, folder / "index.mjs")

    def change(manifest: dict[str, Any]) -> None:
        tools = manifest["contracts"]["tools"]
        manifest["contracts"]["tools"] = [*(name for name in tools if name != "list_tasks"), "exec"]

    _edit_manifest(folder, change)


def _edit_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


SPOILT: Mapping[str, Spoilt] = {
    "no_contracts": Spoilt(_without_contracts),
    "no_packages": Spoilt(_without_packages),
    "mixed_case_id": Spoilt(_mixed_case_id, _configure_mixed_case_id),
    "careless": Spoilt(_careless),
}
