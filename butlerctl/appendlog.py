"""A file of JSON lines that only grows and survives a crash: each line has a checksum and is on the disk before
`append` returns. A torn last line was never acknowledged; it is dropped when reading and overwritten by the next.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.errors import BadInput, TryAgain

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entries:
    """What a file holds. `damaged` has the numbers of whole lines that are not what was written."""

    entries: tuple[Mapping[str, Any], ...]
    damaged: tuple[int, ...]
    length: int
    """Bytes up to the end of the last whole line."""


def read_entries(path: Path, *, what: str) -> Entries:
    """Without a file there are none. Reads without the lock. `what` names the file in messages.

    Raises:
        BadInput: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise _unusable(path, what, error) from error
    length = data.rfind(b"\n") + 1
    entries, damaged = [], []
    for number, line in enumerate(data[:length].splitlines(), 1):
        entry = _decode(line)
        if entry is None:
            damaged.append(number)
        else:
            entries.append(entry)
    return Entries(tuple(entries), tuple(damaged), length)


class AppendLog:
    """One file, private (0600), held by one process at a time. Safe to use from several threads."""

    def __init__(self, path: Path, *, what: str) -> None:
        """Open and lock it; it is made when it is not there.

        Raises:
            TryAgain: another process holds it.
            BadInput: it cannot be opened or written.
        """
        self.path = path
        self._what = what
        self._write_lock = threading.Lock()
        try:
            self._fd = _open_private(path)
        except OSError as error:
            raise _unusable(path, what, error) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise TryAgain(
                f"another run of butlerctl holds {path}", hint="let it finish, then try again"
            ) from error
        self._length = read_entries(path, what=what).length

    def close(self) -> None:
        """Release it for the next run."""
        os.close(self._fd)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Raises BadInput when the line cannot be written."""
        line = _encode(entry)
        with self._write_lock:
            try:
                os.ftruncate(self._fd, self._length)
                _write_all(self._fd, line, self._length)
                os.fsync(self._fd)
            except OSError as error:
                raise _unusable(self.path, self._what, error) from error
            self._length += len(line)


def _encode(entry: Mapping[str, Any]) -> bytes:
    body = _canonical(entry)
    return f'{body[:-1]},"crc":"{zlib.crc32(body.encode()):08x}"}}\n'.encode()


def _decode(line: bytes) -> Entry | None:
    """The entry of a line, None when the checksum does not agree."""
    try:
        entry: Entry = json.loads(line)
        checksum = entry.pop("crc")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return entry if checksum == f"{zlib.crc32(_canonical(entry).encode()):08x}" else None


def _canonical(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(",", ":"), sort_keys=True)


def _open_private(path: Path) -> int:
    """Open for reading and writing, 0600. A new file's name is on the disk before this returns."""
    is_new = not path.exists()
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fchmod(fd, 0o600)
    if is_new:
        sync_folder(path.parent)
    return fd


def sync_folder(folder: Path) -> None:
    """The names in this folder are on the disk when this returns."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(fd: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(fd, data, offset)
        data, offset = data[written:], offset + written


def _unusable(path: Path, what: str, error: OSError) -> BadInput:
    return BadInput(
        f"{path}: the {what} cannot be used: {error.strerror}",
        hint=f"nothing is done without a {what}; make room or choose another --state-dir",
    )
