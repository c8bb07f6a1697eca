"""n8n workflow exports as documents, and the linter for them.

from butlerctl.workflows import lint
report = lint(["workflows"])
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from butlerctl.workflows.findings import Report
    from butlerctl.workflows.settings import LintSettings


def lint(paths: Sequence[str | Path], settings: LintSettings | None = None) -> Report:
    """Lint files and folders of n8n workflow exports.

    Files that cannot be read, or are no workflows, are findings and never exceptions. Without settings the
    rules run as in a repository without an inventory.
    """
    from butlerctl.workflows.engine import lint_paths

    return lint_paths(paths, settings)
