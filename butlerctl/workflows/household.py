"""What the linter needs to know of the inventory; secrets stay references, and values are never followed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from butlerctl.errors import InventoryError
from butlerctl.workflows.contract import Contract
from butlerctl.workflows.rules.base import Known

if TYPE_CHECKING:
    from butlerctl.inventory.model import Inventory, Profile


class Household(NamedTuple):
    """What the inventory says about its workflows. `file` is the inventory's own path.

    `select`, `ignore` and `per_file_ignores` are those of the inventory, before the command line.
    """

    file: Path
    directory: Path
    contract: Contract
    placeholders: Mapping[str, Known]
    documented: frozenset[str] = frozenset()
    expect_active: str = "warn"
    strict_ids: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def household_of(inventory: Inventory) -> Household:
    """The part of an inventory that the rules need. Raises InventoryError for a missing documentation file."""
    lint = inventory.lint
    return Household(
        file=inventory.path,
        directory=inventory.workflows.directory,
        contract=Contract(
            inventory.routes,
            inventory.n8n.webhook.prefix,
            {name: _places(profile) for name, profile in inventory.profiles.items()},
        ),
        placeholders={
            token: Known(item.meaning, item.value.text if item.value else "")
            for token, item in inventory.workflows.placeholders.items()
        },
        documented=_documented(inventory),
        expect_active=inventory.workflows.expect_active,
        strict_ids=lint.strict_ids,
        select=lint.select,
        ignore=lint.ignore,
        per_file_ignores=lint.per_file_ignores,
    )


def _places(profile: Profile) -> frozenset[str]:
    """The places of a person that stand literally in the inventory."""
    values = (profile.calendar, profile.spreadsheet.id, *profile.task_lists.values())
    return frozenset(value.text for value in values if not value.is_reference)


def _documented(inventory: Inventory) -> frozenset[str]:
    """Every word of the documentation that could be a token."""
    found: set[str] = set()
    for name in inventory.lint.documentation:
        try:
            text = (inventory.path.parent / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InventoryError(f"{inventory.path.name}: lint.documentation: cannot read {name}") from error
        found.update("".join(c if c.isalnum() or c in "_-" else " " for c in text).split())
    return frozenset(found)
