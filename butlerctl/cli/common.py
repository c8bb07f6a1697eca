"""What several commands share: the inventory option, the route arguments, the ways to answer."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from butlerctl.errors import UsageProblem

if TYPE_CHECKING:
    from butlerctl.inventory.model import Inventory
    from butlerctl.inventory.operations import Route

INVENTORY = typer.Option(None, "--inventory", help="The inventory; found upwards without it.", metavar="FILE")
STATE_DIR = typer.Option(None, "--state-dir", help="Where butlerctl keeps its state.", metavar="DIR")
SIGN = typer.Option(
    None, "--sign", help="The private key to sign with; the key of `keys new` without it.", metavar="KEY"
)
ROUTES = typer.Argument(None, help="operation/profile; globs allowed.", metavar="[ROUTE]...")

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


FORMAT = typer.Option(Format.TEXT, "--format", help="How to print the result.")


def find_and_load(path: Path | None) -> Inventory:
    """The inventory named by `--inventory`, by BUTLERCTL_INVENTORY, or the nearest one upwards.

    Raises:
        UsageProblem: there is none.
        InventoryError: it is wrong.
    """
    from butlerctl.inventory.find import FILE_NAME, chosen_inventory
    from butlerctl.inventory.loader import load_inventory

    found = chosen_inventory(path)
    if found is None:
        raise UsageProblem(f"no {FILE_NAME} here or in a folder above", hint="name it with --inventory FILE")
    return load_inventory(found, os.environ)


def chosen_routes(inventory: Inventory, patterns: list[str] | None) -> tuple[Route, ...]:
    """The routes that match any of the patterns (`calendar_add/wife`, `*/wife`, `tasks_*`); all without one.

    Raises:
        UsageProblem: a pattern matches no route of the inventory.
    """
    if not patterns:
        return inventory.routes
    chosen: dict[Route, None] = {}
    for pattern in patterns:
        wanted = pattern if "/" in pattern else f"{pattern}/*"
        matching = [route for route in inventory.routes if fnmatchcase(str(route), wanted)]
        if not matching:
            raise UsageProblem(
                f"no route is called {pattern!r}", hint=f"routes: {', '.join(map(str, inventory.routes))}"
            )
        chosen.update(dict.fromkeys(matching))
    return tuple(route for route in inventory.routes if route in chosen)


def duration(option: str, text: str) -> timedelta:
    """`90s`, `30m`, `24h` or `7d`, as an option gives it.

    Raises:
        UsageProblem: it is something else.
    """
    match = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])", text)
    if match is None:
        raise UsageProblem(f"{option} {text}: a number and a unit, such as 90s, 30m, 24h or 7d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
