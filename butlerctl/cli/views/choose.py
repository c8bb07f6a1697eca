"""Which view of a run fits where it is shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from butlerctl.inventory.operations import Route
from butlerctl.progress import Nobody, Watcher


@contextmanager
def view_for(routes: tuple[Route, ...], *, watched: bool) -> Iterator[Watcher]:
    """The live matrix on a terminal, a line a route elsewhere, nothing when nobody watches."""
    if not watched:
        yield Nobody()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        from butlerctl.cli.views.matrix import MatrixView

        with MatrixView(routes) as matrix:
            yield matrix
    else:
        from butlerctl.cli.views.plain import PlainView

        yield PlainView(routes)
