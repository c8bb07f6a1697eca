"""A file that cannot be read cannot be imported, and everything in it goes unchecked.

Told apart are: an empty file, a file that was cut off, the conflict markers of an unfinished merge, nesting
beyond reason, NaN and Infinity (Python writes them, JSON has no such thing), and plain bad syntax with its
line and column. The other files are still checked.

Fix: export the workflow again, or repair the place that is named.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.document import Reading
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.positions import Span
from butlerctl.workflows.rules.base import Hit, Rule


def check_file(reading: Reading) -> Iterable[Hit]:
    if reading.problem:
        offset = reading.problem.offset
        yield Hit(
            reading.problem.message,
            span=Span(offset, min(offset + 1, len(reading.text))),
            help="export the workflow again, or repair this place",
        )
    for constant in dict.fromkeys(reading.constants):
        offset = reading.text.find(constant)
        yield Hit(
            f"{constant} is no JSON: n8n cannot read this file",
            token=constant,
            span=Span(offset, offset + len(constant)),
            help="write null or a number",
        )


RULE = Rule("BW001", "the file cannot be read as JSON", Severity.ERROR, check_file=check_file)
