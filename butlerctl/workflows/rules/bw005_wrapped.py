"""The workflow lies inside an array or an answer of the API; each one in it is linted.

`n8n export:workflow --all` writes an array, the API wraps its answers in `data`. The editor's import takes
one workflow per file.

Fix: nothing to do for linting; split the file before an import in the editor.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.document import Reading
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Hit, Rule


def check_file(reading: Reading) -> Iterable[Hit]:
    if reading.members and reading.members[0].path:
        count = len(reading.members)
        what = "one workflow is" if count == 1 else f"{count} workflows are"
        yield Hit(
            f"{what} wrapped in this file",
            reading.members[0].path,
            help="each was linted; the editor imports one workflow per file",
        )


RULE = Rule("BW005", "workflows wrapped in an array or an API answer", Severity.INFO, check_file=check_file)
