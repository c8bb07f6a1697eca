"""Where the report of a run goes, and who signs it: settled before the run, so that nothing is found wrong after it."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from butlerctl.errors import BadInput
from butlerctl.report.keys import default_key, load_signer, new_signer, public_key_of, public_path
from butlerctl.report.run import Run
from butlerctl.report.signing import draft_path, write_report
from butlerctl.state import state_folder

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner


@dataclass(frozen=True, slots=True)
class Desk:
    """`signer` is None for an unsigned report. `public_key` is the file that `report verify --key` takes, if any."""

    path: Path
    signer: CryptoSigner | None = None
    public_key: Path | None = None
    occasional: bool = False
    """The key is made for this report: its public half lies beside it, its private half is never written."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A report that is written. `key_id` is empty for an unsigned one."""

    path: Path
    key_id: str = ""
    public_key: Path | None = None


def default_path(inventory: Path, state_dir: Path | None) -> Path:
    """In the state folder of the inventory, where `plan` and `drift` look for reports."""
    name = f"verify-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}-{token_hex(2)}.json"
    return state_folder(inventory, state_dir) / "reports" / name


def prepare(path: Path, *, key: Path | None, state_dir: Path | None, lab: bool) -> Desk:
    """Sign with `key`, with the user's own key, or for a lab with a key made for the occasion.

    Raises:
        BadInput: the key cannot be used, or nothing can be written there.
    """
    chosen = key or _users_key(state_dir)
    signer = load_signer(chosen) if chosen is not None else None
    _try(path)
    if chosen is not None:
        public = public_path(chosen)
        return Desk(path, signer, public if public.is_file() else None)
    return Desk(path, new_signer(), public_path(path), occasional=True) if lab else Desk(path)


def save_run(run: Run, desk: Desk) -> Saved:
    """
    Raises:
        BadInput: the report cannot be written.
    """
    write_report(desk.path, run, desk.signer)
    if desk.signer is None:
        return Saved(desk.path)
    key = public_key_of(desk.signer)
    if desk.occasional and desk.public_key:
        try:
            desk.public_key.write_text(key.pem, encoding="utf-8")
        except OSError as error:
            raise _unwritable(desk.public_key, str(error.strerror)) from error
    return Saved(desk.path, key.key_id, desk.public_key)


def _try(path: Path) -> None:
    """Does the folder take the draft that becomes the report? What lies at the path already stays as it is."""
    draft = draft_path(path)
    try:
        if path.exists() and not path.is_file():
            raise _unwritable(path, os.strerror(errno.EISDIR) if path.is_dir() else "it is no ordinary file")
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.open("wb").close()
        draft.unlink()
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from error


def _unwritable(path: Path, why: str) -> BadInput:
    return BadInput(f"{path}: cannot be written: {why}", hint="--report names the file of the report")


def _users_key(state_dir: Path | None) -> Path | None:
    path = default_key(state_dir)
    return path if path.is_file() else None
