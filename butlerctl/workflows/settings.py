"""How a run of the linter is set up: what is selected, and what the household expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from butlerctl.workflows.contract import Contract
from butlerctl.workflows.rules.base import Known

if TYPE_CHECKING:
    from butlerctl.inventory.model import Inventory, Profile


@dataclass(frozen=True, slots=True)
class Household:
    """What the inventory says about its workflows. `file` is the inventory's own path."""

    file: Path
    directory: Path
    contract: Contract
    placeholders: Mapping[str, Known]
    documented: frozenset[str] = frozenset()
    expect_active: str = "warn"
    strict_ids: bool = False


@dataclass(frozen=True, slots=True)
class LintSettings:
    """What to lint for. Codes may be prefixes: BW1 is all placeholder rules.

    `everywhere` applies the household to every file, not only to those in its folder. `bindings` are put in
    place of placeholders before the rules look. `from_hook` skips files that hold no workflow.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pedantic: bool = False
    household: Household | None = None
    everywhere: bool = False
    bindings: Mapping[str, str] = field(default_factory=dict)
    from_hook: bool = False


def household_of(inventory: Inventory) -> Household:
    """The part of an inventory that the rules need; secrets stay references."""
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
        strict_ids=inventory.lint.strict_ids,
    )


def _places(profile: Profile) -> frozenset[str]:
    """The places of a person that stand literally in the inventory."""
    values = (profile.calendar, profile.spreadsheet.id, *profile.task_lists.values())
    return frozenset(value.text for value in values if not value.is_reference)


def _documented(inventory: Inventory) -> frozenset[str]:
    """Every word of the documentation that could be a token."""
    from butlerctl.errors import InventoryError

    found: set[str] = set()
    for name in inventory.lint.documentation:
        path = inventory.path.parent / name
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InventoryError(f"{inventory.path.name}: lint.documentation: cannot read {name}") from error
        found.update("".join(c if c.isalnum() or c in "_-" else " " for c in text).split())
    return frozenset(found)
