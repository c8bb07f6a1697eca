"""The webhooks that a workflow holds while it is published, and whether it stands in the way of others. Pure.

From experiments on 2.30.8: n8n lets one workflow have a method and path. A path with `:name` in it is dynamic and lies
below the node's own id, `/webhook/<webhookId>/<path>`. It covers every path there of the same length that holds its
fixed segments, in any order: it answers where nobody has the exact path, and to publish that path in another workflow
is a conflict (409) then. Whoever has the exact path already keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from butlerctl.workflows.workflow import WEBHOOK

Document = Mapping[str, Any]
Hook = tuple[str, str]
"""Method and path below `/webhook/`."""

_SEVERAL = ("GET", "POST")  # what n8n takes for "several methods" when none is named


def hooks_of(document: Document | None) -> dict[Hook, Document]:
    """The enabled Webhook nodes, by what they hold; one that takes several methods is there for each of them."""
    nodes = (document or {}).get("nodes") or []
    return {
        (method, _path(node)): node
        for node in nodes
        if node.get("type") == WEBHOOK and not node.get("disabled")
        for method in _methods(node.get("parameters") or {})
    }


def taken(wanted: Iterable[Hook], document: Document | None) -> dict[Hook, str]:
    """Which of these webhooks the document holds, each with the path by which it does: its own, or a dynamic one."""
    held = hooks_of(document)
    found = {}
    for method, path in wanted:
        by = answering((method, path), held)
        if by is not None:
            found[method, path] = by[1]
    return found


def answering(wanted: Hook, held: Collection[Hook]) -> Hook | None:
    """Which of the webhooks answers for this one: the exact one, else one that covers it."""
    method, path = wanted
    if wanted in held:
        return wanted
    return next((hook for hook in held if hook[0] == method and _covers(hook[1], path)), None)


def _covers(pattern: str, path: str) -> bool:
    """Does a dynamic path answer for this one?"""
    owner, *named = pattern.split("/")
    first, *segments = path.split("/")
    fixed = [segment for segment in named if not segment.startswith(":")]
    return (
        len(fixed) < len(named) == len(segments)
        and owner == first
        and all(each in segments for each in fixed)
    )


def _methods(parameters: Document) -> Iterator[str]:
    several = parameters.get("multipleMethods") is True
    value = parameters.get("httpMethod", _SEVERAL if several else "GET")
    for each in value if isinstance(value, list | tuple) else str(value).split(","):
        yield _plain(str(each)).strip()


def _path(node: Document) -> str:
    given = _plain(str((node.get("parameters") or {}).get("path") or "")).strip()
    path, owner = given.strip("/"), str(node.get("webhookId", ""))
    if not path:
        return owner
    dynamic = path.startswith(":") or "/:" in path
    return f"{owner}/{path}" if dynamic and owner else path


def _plain(text: str) -> str:
    """An expression without anything to evaluate is its text; what another one comes to, only n8n knows."""
    return text[1:] if text.startswith("=") and "{{" not in text else text
