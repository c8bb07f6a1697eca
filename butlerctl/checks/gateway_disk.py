"""The plugin's files where the gateway loads them: only where this machine is shown to be the gateway's own.

An address on loopback shows nothing: it may be a tunnel, or a container with files of its own. What shows it is a
transcript file that the gateway made for a session a moment ago, and its configuration file, byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from butlerctl.checks.gateway_finding import at
from butlerctl.gateway.operator import Session
from butlerctl.gateway.plugin import PLUGIN_ID, PluginFiles, read_plugin


@dataclass(frozen=True, slots=True)
class PluginOnDisk:
    """`files` are those that the gateway loads; None with the reason in `why_not`.

    `changed_since` names files that were written after the gateway's start: it runs what was there before.
    """

    files: PluginFiles | None
    why_not: str = ""
    changed_since: tuple[str, ...] = ()


def plugin_on_disk(answer: Mapping[str, Any], session: Session, started: datetime | None) -> PluginOnDisk:
    """`answer` is the gateway's answer about its configuration, `session` one that was made a moment ago."""
    if not _is_own_machine(answer, session):
        return PluginOnDisk(None, "the plugin's files are not readable from here")
    paths = at(answer, "config", "plugins", "load", "paths") or ()
    found = (read_plugin(Path(path)) for path in paths)
    files = next((each for each in found if each and each.manifest.get("id") == PLUGIN_ID), None)
    if files is None:
        return PluginOnDisk(None, f"no folder of plugins.load.paths holds the plugin {PLUGIN_ID}")
    return PluginOnDisk(files, changed_since=_changed_since(files, started))


def _is_own_machine(answer: Mapping[str, Any], session: Session) -> bool:
    try:
        with Path(session.file).open(encoding="utf-8") as transcript:
            is_own_session = session.id in transcript.readline()
        config = Path(str(answer.get("path"))).read_bytes()
    except (OSError, ValueError):
        return False
    return is_own_session and hashlib.sha256(config).hexdigest() == answer.get("hash")


def _changed_since(files: PluginFiles, started: datetime | None) -> tuple[str, ...]:
    """By the time of the last change of a file's entry, which no copying tool sets back."""
    if started is None:
        return ()
    return tuple(sorted(name for name, moment in files.written.items() if moment > started.timestamp()))
