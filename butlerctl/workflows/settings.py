"""How a run of the linter is set up: what is selected, and what the household expects."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from butlerctl.workflows.household import Household


class LintSettings(NamedTuple):
    """What to lint for. Codes may be prefixes: BW1 is all placeholder rules.

    `everywhere` applies the household to every file, not only to those in its folder. `bindings` are put in
    place of placeholders before the rules look. `from_hook` skips files that hold no workflow.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    pedantic: bool = False
    household: Household | None = None
    everywhere: bool = False
    bindings: Mapping[str, str] = MappingProxyType({})
    from_hook: bool = False
