"""The linter's part of the inventory, remembered between runs.

A commit hook starts the linter hundreds of times on an unchanged inventory. Reading YAML and checking it all
costs a third of such a run, so the result is kept in the user's cache folder beside the exact text that it
was made from. Another text, or another version of butlerctl, and the inventory is read anew. The file holds
no secret: references are kept as they are written, and never followed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import butlerctl
from butlerctl.inventory.operations import Route
from butlerctl.workflows.contract import Contract
from butlerctl.workflows.household import Household, household_of
from butlerctl.workflows.rules.base import Known

_FORMAT = f"1 {butlerctl.__version__}"


def read_household(path: Path) -> Household:
    """The household of an inventory file. Raises InventoryError as the loader does."""
    text = _text(path)
    remembered = _recall(path, text) if text else None
    if remembered:
        return remembered
    from butlerctl.inventory.loader import load_inventory

    inventory = load_inventory(path, os.environ)
    household = household_of(inventory)
    if text and not inventory.lint.documentation:
        _remember(path, text, household)
    return household


def _text(path: Path) -> str:
    """The file's text, or nothing when only the loader can say what is wrong with it."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _recall(path: Path, text: str) -> Household | None:
    try:
        kept = json.loads(_cache_file(path).read_bytes())
        if kept["format"] == _FORMAT and kept["text"] == text:
            return _decoded(path, kept["household"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _remember(path: Path, text: str, household: Household) -> None:
    document = {"format": _FORMAT, "text": text, "household": _encoded(path, household)}
    file = _cache_file(path)
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_text(json.dumps(document), encoding="utf-8")
        beside.replace(file)
    except OSError:
        return


def _cache_file(path: Path) -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path("~").expanduser() / ".cache")
    name = str(path.resolve()).strip("/").replace("/", "%").replace("\\", "%").replace(":", "%")[-200:]
    return Path(root) / "butlerctl" / "lint" / f"{name}.json"


def _encoded(path: Path, household: Household) -> dict[str, Any]:
    contract = household.contract
    return {
        "directory": os.path.relpath(household.directory, path.parent),
        "routes": [(route.operation, route.profile) for route in contract.routes or ()],
        "prefix": contract.prefix,
        "places": {name: sorted(values) for name, values in contract.places.items()},
        "placeholders": dict(household.placeholders),
        "expect_active": household.expect_active,
        "strict_ids": household.strict_ids,
        "select": household.select,
        "ignore": household.ignore,
        "per_file_ignores": dict(household.per_file_ignores),
    }


def _decoded(path: Path, kept: dict[str, Any]) -> Household:
    routes = [Route(operation, profile) for operation, profile in kept["routes"]]
    places = {name: frozenset(values) for name, values in kept["places"].items()}
    return Household(
        file=path,
        directory=path.parent / kept["directory"],
        contract=Contract(routes, kept["prefix"], places),
        placeholders={token: Known(*known) for token, known in kept["placeholders"].items()},
        expect_active=kept["expect_active"],
        strict_ids=kept["strict_ids"],
        select=tuple(kept["select"]),
        ignore=tuple(kept["ignore"]),
        per_file_ignores={pattern: tuple(codes) for pattern, codes in kept["per_file_ignores"].items()},
    )
