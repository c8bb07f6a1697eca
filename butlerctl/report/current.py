"""The workflows as they are now, to be held against those that a report is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from butlerctl.errors import BadDocument
from butlerctl.workflows.digest import canonical_digest
from butlerctl.workflows.document import read
from butlerctl.workflows.render import render


def current_workflows(files: Iterable[Path], bindings: Mapping[str, str]) -> dict[str, str]:
    """The canonical digest of each export, by the file's stem, with its placeholders bound.

    Raises:
        BadDocument: a file cannot be read or is not one workflow.
    """
    return {path.stem: _digest(path, bindings) for path in files}


def _digest(path: Path, bindings: Mapping[str, str]) -> str:
    try:
        reading = read(path.read_bytes(), path.name)
    except OSError as error:
        raise BadDocument(f"{path}: cannot be read: {error.strerror}") from error
    if reading.problem or len(reading.members) != 1:
        raise BadDocument(
            f"{path} is not the export of one workflow", hint=f"butlerctl lint-workflows {path}"
        )
    return canonical_digest(render(reading.members[0].document, bindings))
