"""Where the report of a run went, and who signed it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from butlerctl.report.keys import default_key, load_signer, new_signer, public_key_of, public_path
from butlerctl.report.run import Run
from butlerctl.report.signing import write_report


@dataclass(frozen=True, slots=True)
class Saved:
    """`public_key` is the file that `report verify --key` takes; None for an unsigned report."""

    path: Path
    key_id: str = ""
    public_key: Path | None = None


def save_run(run: Run, path: Path, *, key: Path | None, state_dir: Path | None) -> Saved:
    """Write the report, signed with `key`, with the user's own key, or for a lab with a key made for the occasion.

    The occasional key's public half lies beside the report; its private half is never written.

    Raises:
        BadInput: the key cannot be used, or the report cannot be written.
    """
    chosen = key or _users_key(state_dir)
    if chosen is not None:
        signer = load_signer(chosen)
        write_report(path, run, signer)
        return Saved(path, public_key_of(signer).key_id, public_path(chosen))
    if not run.lab:
        write_report(path, run)
        return Saved(path)
    signer = new_signer()
    write_report(path, run, signer)
    public = public_key_of(signer)
    beside = public_path(path)
    beside.write_text(public.pem, encoding="utf-8")
    return Saved(path, public.key_id, beside)


def _users_key(state_dir: Path | None) -> Path | None:
    path = default_key(state_dir)
    return path if path.is_file() else None
