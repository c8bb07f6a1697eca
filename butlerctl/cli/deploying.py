"""What the commands of a deployment share: the household and its n8n, opened; reports that are at hand."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butlerctl.cli.common import Format, find_and_load
from butlerctl.cli.documents import print_json, print_line, tell, visible

if TYPE_CHECKING:
    from butlerctl.deploy.report import VouchingReport
    from butlerctl.deploy.scene import Ground, Scene
    from butlerctl.inventory.model import Inventory
    from butlerctl.report.keys import PublicKey

KEYS = typer.Option(
    [], "--key", help="A public key that is trusted; your own without it; may be repeated.", metavar="PUB"
)


@contextmanager
def opened(inventory: Path | None, state_dir: Path | None) -> Iterator[tuple[Inventory, Scene]]:
    """Raises what `open_scene` raises."""
    from butlerctl.deploy.scene import open_scene

    household = find_and_load(inventory)
    with open_scene(household, state_dir, say) as scene:
        yield household, scene


@contextmanager
def opened_without_files(
    inventory: Path | None, state_dir: Path | None
) -> Iterator[tuple[Inventory, Ground]]:
    """For the way back: nothing but the inventory and n8n. Raises what `open_ground` raises."""
    from butlerctl.deploy.scene import open_ground

    household = find_and_load(inventory)
    with open_ground(household, state_dir, say) as ground:
        yield household, ground


def say(line: str) -> None:
    """Progress, for whoever watches."""
    tell(f"butlerctl: {visible(line)}", sys.stderr)


def show(document: Any, lines: Iterable[str], format_: Format) -> None:
    if format_ is Format.JSON:
        print_json(document)
    else:
        for line in lines:
            print_line(line)


def trusted_keys(files: list[Path], state_dir: Path | None) -> tuple[PublicKey, ...]:
    """The keys that were named, else the user's own, if there is one.

    Raises:
        BadInput: a file is no public key.
    """
    from butlerctl.report.keys import default_key, load_public_key, public_path

    own = public_path(default_key(state_dir))
    chosen = files or ([own] if own.is_file() else [])
    return tuple(load_public_key(path) for path in chosen)


def reports_at_hand(
    household: Inventory, named: Path | None, keys: list[Path], state_dir: Path | None
) -> tuple[VouchingReport, ...]:
    """The named report, else those that `verify` left in the state folder; the newest first.

    Raises:
        BadInput: the named one cannot be read.
    """
    from butlerctl.deploy.report import read_reports
    from butlerctl.report.signing import read_report
    from butlerctl.state import state_folder

    if named is not None:
        read_report(named)
        files = [named]
    else:
        files = sorted((state_folder(household.path, state_dir) / "reports").glob("*.json"))
    return read_reports(files, trusted_keys(keys, state_dir))
