"""The exports as they would be deployed, held against the linter's rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import Route
from butlerctl.workflows.engine import lint_paths
from butlerctl.workflows.exports import bindings_of
from butlerctl.workflows.findings import Finding, Severity
from butlerctl.workflows.household import household_of
from butlerctl.workflows.settings import LintSettings

# The flag in a file is not the live state, and the live state is looked at itself.
_NOT_HERE = ("BW203",)


def lint_exports(inventory: Inventory, routes: Iterable[Route]) -> dict[Route, tuple[Finding, ...]]:
    """The errors of each route's export, placeholders bound; warnings are the business of `lint-workflows`."""
    household = household_of(inventory)
    settings = LintSettings(
        ignore=(*household.ignore, *_NOT_HERE),
        per_file_ignores=household.per_file_ignores,
        household=household,
        everywhere=True,
        bindings=bindings_of(inventory),
    )
    report = lint_paths([inventory.workflows.directory], settings)
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    return {
        route: tuple(error for error in errors if Path(error.file).name == route.workflow_file)
        for route in routes
    }
