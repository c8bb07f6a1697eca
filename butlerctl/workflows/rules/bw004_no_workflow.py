"""JSON that is no workflow: it has no list of nodes with connections.

A file that was named on the command line is never skipped in silence. Found in a folder, or passed by a
commit hook, such a file is skipped and counted in the last line.

Fix: name the workflow, or leave the file out.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.document import Reading
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.positions import Span
from butlerctl.workflows.rules.base import Hit, Rule


def check_file(reading: Reading) -> Iterable[Hit]:
    if reading.named and not reading.members and not reading.problem:
        yield Hit(
            "this is no n8n workflow: it has no nodes with connections",
            span=Span(0, 1),
            help="name a workflow export; files found in a folder are skipped when they are something else",
        )


RULE = Rule("BW004", "a file named for linting is no workflow", Severity.ERROR, check_file=check_file)
