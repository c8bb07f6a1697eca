"""Every way to show a report, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from butlerctl.report.html import as_html
from butlerctl.report.junit import as_junit
from butlerctl.report.prometheus import as_prometheus
from butlerctl.report.signing import Report
from butlerctl.report.statement import run_of
from butlerctl.report.text import as_text
from butlerctl.report.words import Shown


def as_json(shown: Shown) -> str:
    """The statement itself."""
    return json.dumps(json.loads(shown.payload), indent=2, ensure_ascii=False) + "\n"


RENDERERS: Mapping[str, Callable[[Shown], str]] = {
    "text": as_text,
    "json": as_json,
    "html": as_html,
    "junit": as_junit,
    "prometheus": as_prometheus,
}


def render(report: Report, name: str, *, colour: bool = False) -> str:
    """Show a report, from its redacted statement and nothing else. `name` is one of RENDERERS.

    Raises:
        Refused: the report does not hold a statement of butlerctl.
    """
    shown = Shown(run_of(report.payload), report.payload, report.key_id, colour=colour)
    return RENDERERS[name](shown)
