"""n8n's own security audit in few lines: open webhooks, an outdated version, the instance's settings.

It is weaker than the probes: it looks at what is saved, takes `authentication: "none"` for a guard when it is written
out, and any Code or If node behind a webhook for a check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from butlerctl.n8n.api import N8nApi

_OPEN = "Unprotected webhooks in instance"
_OUTDATED = "Outdated instance"
_SETTINGS = "Security settings"


def audit_lines(api: N8nApi) -> tuple[str, ...]:
    """One line for each finding. n8n asks its vendor for newer versions meanwhile, where it may.

    Raises:
        Unreachable, NotPermitted, TryAgain: as N8nApi.
    """
    report = api.audit(["instance"]).get("Instance Risk Report") or {}
    return tuple(line for section in report.get("sections") or [] for line in _lines(section))


def _lines(section: Mapping[str, Any]) -> Iterator[str]:
    title = section.get("title")
    if title == _OPEN:
        for node in section.get("location") or []:
            yield (
                f'the workflow "{node.get("workflowName")}" ({node.get("workflowId")}) has a webhook without'
                f' authentication: "{node.get("nodeName")}"'
            )
    elif title == _OUTDATED:
        yield str(section.get("description", title))
    elif title == _SETTINGS:
        for group in (section.get("settings") or {}).values():
            yield ", ".join(f"{name}: {_word(value)}" for name, value in group.items())
    else:
        yield str(title)


def _word(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
