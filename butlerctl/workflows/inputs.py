"""Which files to lint: those that were named, and the JSON files of folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})


class Input(NamedTuple):
    """One file. `file` is how it is shown; `named` says that somebody asked for exactly this one.

    One that is not `given` is read for comparison only. `data` holds what has no path of its own.
    """

    file: str
    named: bool
    given: bool = True
    data: bytes | None = None

    def load(self) -> bytes:
        """Raises OSError."""
        return Path(self.file).read_bytes() if self.data is None else self.data


def expand(paths: Iterable[str], *, named: bool) -> Iterator[Input]:
    """The files of each path, every file once, folders in order of name."""
    seen: set[str] = set()
    for path in paths:
        folder = os.path.isdir(path)  # noqa: PTH112 - os.walk below is four times as fast as Path.rglob
        for file in _json_files(path) if folder else (path,):
            key = os.path.normpath(file)
            if key not in seen:
                seen.add(key)
                yield Input(file, named=named and not folder)


def _json_files(folder: str) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS
        )
        for name in sorted(files):
            if name.endswith(".json"):
                yield os.path.join(root, name).removeprefix("./")  # noqa: PTH118 - as above


def covers(paths: Iterable[str], directory: Path, *, any_folder: bool) -> bool:
    """Whether a whole workflow folder is among the paths; `any_folder` takes any folder for it."""
    target = directory.resolve()
    folders = [Path(path).resolve() for path in paths if Path(path).is_dir()]
    return any(any_folder or folder == target or folder in target.parents for folder in folders)


def lies_in(file: str, directory: Path) -> bool:
    return directory.resolve() in Path(file).resolve().parents


def shown(path: Path) -> str:
    """A path as a person writes it: relative where it lies below the working folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
