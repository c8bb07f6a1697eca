"""n8n reads UTF-8. A byte order mark, UTF-16 or stray bytes stop other tools, and sometimes n8n itself.

PowerShell's `>` writes UTF-16; old editors add the mark. The workflow is linted all the same.

Fix: save the file as UTF-8 without a mark. `--fix` removes a UTF-8 mark.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.document import Reading
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.positions import Span
from butlerctl.workflows.rules.base import Hit, Rule


def check_file(reading: Reading) -> Iterable[Hit]:
    if reading.encoding:
        yield Hit(
            f"the file is not plain UTF-8: {reading.encoding}",
            span=Span(0, 0),
            help="save it as UTF-8 without a byte order mark",
        )


RULE = Rule(
    "BW002",
    "the file is not plain UTF-8",
    Severity.WARNING,
    check_file=check_file,
    fix="removes a UTF-8 byte order mark",
)
