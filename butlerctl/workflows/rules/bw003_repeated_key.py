"""A key that stands twice in one object: most readers silently take the last one.

`"active": false` … `"active": true` reads as true, and a review sees the first. Hand edits, merges and language
models leave such files.

Fix: remove the one that is not meant; both places are named.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.document import Reading
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.positions import Locator
from butlerctl.workflows.rules.base import Hit, Rule


def check_file(reading: Reading) -> Iterable[Hit]:
    locator = Locator(reading.text)
    for path in reading.repeated:
        for key, spans in locator.repeated_keys(path):
            line, column = locator.line_and_column(spans[0].start)
            yield Hit(
                f'the key "{key}" stands {len(spans)} times in one object: the last one wins',
                (*path, key),
                span=spans[-1],
                help=f"remove one of them; the first is at {line}:{column}",
            )


RULE = Rule("BW003", "a key stands twice in one object", Severity.ERROR, check_file=check_file)
