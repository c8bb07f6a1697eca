"""Evidence as files: what was seen in a run becomes a case that `diagnose` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from butlerctl.errors import BadInput
from butlerctl.evidence import Bundle
from butlerctl.inventory.operations import Route
from butlerctl.redaction import redact


def prepare_folder(folder: Path) -> None:
    """Make it before the run, so that nothing is found wrong after it.

    Raises:
        BadInput: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{folder}: cannot be made: {error.strerror}", hint="--save-evidence names a folder"
        ) from error


def save_bundles(bundles: Mapping[Route, Bundle], folder: Path) -> None:
    """One folder a route, `calendar_add_wife/bundle.json`, redacted.

    Raises:
        BadInput: a file cannot be written.
    """
    for route, bundle in bundles.items():
        file = folder / f"{route.operation}_{route.profile}" / "bundle.json"
        text = json.dumps(redact(bundle.as_json()), indent=1, ensure_ascii=False)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{file}: cannot be written: {error.strerror}") from error
