"""Whether n8n serves a webhook as its published version says: an answer on the wire, and nothing that could run."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from butlerctl.checks.probe import FORBIDDEN
from butlerctl.deploy.server import Document
from butlerctl.n8n.answers import Kind, classify
from butlerctl.n8n.hooks import Hook, hooks_of
from butlerctl.n8n.webhooks import Key, Webhooks

PATIENCE = 5.0
"""Seconds until a published webhook must answer. A republish takes it away for milliseconds; n8n 2.41 publishes late."""

QUIET = 1.0
"""Seconds after the last publication until an n8n that publishes late is judged; 0.1 to 0.25 were seen (2.41.1)."""

Name = TypeVar("Name")

_AT_ONCE = 12
_LAST_AT_ONCE = (2, 30)
_NUMBERS = re.compile(r"\d+\.\d+")
_FIRST_PAUSE = 0.01
_HEADER_AUTH = "headerAuth"


def let_publish(version: str | None) -> None:
    """Wait until n8n serves what it was told to publish, where it says so before it does.

    Such a version answers for the old one until then, and nothing that its API or its webhooks say tells which of the
    two answers. Those up to 2.30 publish before they answer; of the versions between that and 2.41 nothing is known.
    """
    numbers = tuple(map(int, (version or "").split(".")[:2])) if _NUMBERS.match(version or "") else None
    if numbers is None or numbers > _LAST_AT_ONCE:
        time.sleep(QUIET)


def faults(
    webhooks: Webhooks, published: Document, *, before: Document | None, patience: float | None = None
) -> dict[Hook, str]:
    """What is wrong with each webhook of a published workflow, after waiting for it; an empty text where nothing is.

    `before` is what the same workflow served until now: only where both demand the header is a request sent
    without it.
    """
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    guarded = _guarded(published) & (_guarded(before) if before is not None else _guarded(published))
    return {
        hook: _fault(webhooks, hook, guarded=hook in guarded, deadline=deadline)
        for hook in hooks_of(published)
    }


def faults_of_all(
    webhooks: Webhooks, published: Mapping[Name, Document], *, patience: float | None = None
) -> dict[Name, dict[Hook, str]]:
    """`faults` of many workflows at once, under the same keys."""
    if not published:
        return {}
    with ThreadPoolExecutor(min(_AT_ONCE, len(published))) as pool:
        found = pool.map(
            lambda document: faults(webhooks, document, before=None, patience=patience), published.values()
        )
        return dict(zip(published, found, strict=True))


def wait_until_gone(webhooks: Webhooks, hooks: Iterable[Hook], patience: float = 1.0) -> None:
    """Until n8n has let go of the webhooks of an unpublished workflow, or somebody else plainly has them."""
    deadline = time.monotonic() + patience
    for hook in hooks:
        while not _look(webhooks, hook, guarded=False) and time.monotonic() < deadline:
            time.sleep(_FIRST_PAUSE)


def _guarded(document: Document) -> set[Hook]:
    return {
        hook
        for hook, node in hooks_of(document).items()
        if (node.get("parameters") or {}).get("authentication") == _HEADER_AUTH
    }


def _fault(webhooks: Webhooks, hook: Hook, *, guarded: bool, deadline: float) -> str:
    pause = _FIRST_PAUSE
    while True:
        found = _look(webhooks, hook, guarded=guarded)
        if not found or time.monotonic() + pause > deadline:
            return found
        time.sleep(pause)
        pause = min(pause * 2, 0.25)


def _look(webhooks: Webhooks, hook: Hook, *, guarded: bool) -> str:
    """One request. That n8n misses the key is its word that it serves the webhook; OPTIONS would add nothing."""
    method, path = hook
    if guarded and method == "POST":
        response = webhooks.post(path, FORBIDDEN, Key.NONE)["response"]
        kind = reading_of(response)
        return "" if kind is Kind.REFUSED else f"POST {path} without the key: {words_of(response, kind)}"
    response = webhooks.options(path)["response"]
    if response["status"] is None:
        return f"OPTIONS {path}: {response.get('error')}"
    allowed = str(response["headers"].get("access-control-allow-methods", ""))
    listed = method in allowed.split(", ")
    return "" if listed else f"OPTIONS {path}: {method} is not among {allowed or 'no methods'}"


def reading_of(response: Mapping[str, Any]) -> Kind | None:
    """What the answer to a GET or a POST is; None where there was none."""
    if response["status"] is None:
        return None
    body = response["body"]
    return classify(
        response["status"], response["headers"], body if isinstance(body, str) else json.dumps(body)
    ).kind


def words_of(response: Mapping[str, Any], kind: Kind | None) -> str:
    return f"{response['status']}, {kind.value}" if kind else str(response.get("error"))
