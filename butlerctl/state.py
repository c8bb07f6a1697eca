"""Where butlerctl keeps what must outlive a run: the ledger, keys, snapshots.

The state folder is that of the platform (on Linux `~/.local/state/butlerctl`); `BUTLERCTL_STATE_DIR` or
`--state-dir` moves it. Each inventory has a folder of its own in it, so that two households never mix.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from butlerctl.errors import BadInput

STATE_DIR_VARIABLE = "BUTLERCTL_STATE_DIR"


def state_root(state_dir: Path | None = None) -> Path:
    """The folder above those of the inventories; made with mode 0700 if it is not there.

    Raises:
        BadInput: it cannot be made.
    """
    chosen = state_dir or _from_environment()
    return _private_folder(chosen.expanduser().absolute() if chosen else _platform_folder())


def state_folder(inventory: Path, state_dir: Path | None = None) -> Path:
    """The folder of one inventory: `NAME-HASH`, the name of its folder and a hash of its real path.

    Raises:
        BadInput: it cannot be made.
    """
    path = inventory.resolve()
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", path.parent.name).strip("._") or "root"
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    return _private_folder(state_root(state_dir) / f"{name[:40]}-{digest}")


def _from_environment() -> Path | None:
    value = os.environ.get(STATE_DIR_VARIABLE)
    return Path(value) if value else None


def _platform_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path("butlerctl", appauthor=False)


def _private_folder(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{path}: the state folder cannot be made: {error.strerror}",
            hint="choose another with --state-dir",
        ) from error
    return path
