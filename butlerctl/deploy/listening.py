"""Whether n8n listens where it says that it publishes, asked with GETs that run nothing.

n8n answers a GET on a path that takes POST only with a 404 that names POST, and on a path that nobody has with
another 404 (all versions from 1.123.81 to 2.41.1). A GET is not sent where anything that n8n publishes could take it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from butlerctl.deploy.server import Document, Server
from butlerctl.deploy.wire import reading_of, words_of
from butlerctl.inventory.operations import Route
from butlerctl.n8n.answers import Kind
from butlerctl.n8n.hooks import Hook, answering, hooks_of
from butlerctl.n8n.webhooks import Webhooks
from butlerctl.workflows.workflow import WEBHOOK

PATIENCE = 1.0
"""Seconds until a webhook that does not listen counts as silent: somebody may be publishing it anew right now."""

_AT_ONCE = 12
_PAUSE = 0.05
_OTHER_METHODS = re.compile(r"Did you mean to make a (.+) request")


@dataclass(frozen=True, slots=True)
class Silence:
    """A webhook that was not heard. Only where n8n itself says that nobody has it is it `certain`."""

    words: str
    certain: bool


def silences(webhooks: Webhooks, published: Mapping[Route, Document], server: Server) -> dict[Route, Silence]:
    """For each published workflow the first of its webhooks that was not heard; nothing where all were.

    One that n8n says nobody has comes before those of which it is not known.
    """
    if not published:
        return {}
    others = [held.published for held in server.workflows if held.published is not None]
    listen = partial(_of_workflow, webhooks, others, time.monotonic() + PATIENCE)
    with ThreadPoolExecutor(min(_AT_ONCE, len(published))) as pool:
        found = dict(zip(published, pool.map(listen, published.values()), strict=True))
    return {route: silence for route, silence in found.items() if silence is not None}


def may_run_on_get(path: str, published: Iterable[Document]) -> bool:
    """Could a GET on this path start one of these workflows?"""
    return any(
        answering(("GET", path), hooks_of(document)) is not None
        or any(_could_have(node, path) for node in document.get("nodes") or [])
        for document in published
    )


def _could_have(node: Document, path: str) -> bool:
    """A path or method that only n8n can evaluate, or another kind of node with a webhook at this path."""
    parameters = node.get("parameters") or {}
    own = str(parameters.get("path") or node.get("webhookId") or "")
    if node.get("disabled"):
        return False
    if node.get("type") == WEBHOOK:
        return "{{" in own or ("{{" in str(parameters.get("httpMethod", "")) and own.strip("/") == path)
    return bool(own) and f"{path}/".startswith(f"{own.strip('/')}/")


def _of_workflow(
    webhooks: Webhooks, others: list[Document], deadline: float, document: Document
) -> Silence | None:
    found = [_listen(webhooks, others, deadline, hook) for hook in hooks_of(document)]
    unheard = [silence for silence in found if silence is not None]
    return next((silence for silence in unheard if silence.certain), unheard[0] if unheard else None)


def _listen(webhooks: Webhooks, others: list[Document], deadline: float, hook: Hook) -> Silence | None:
    method, path = hook
    if may_run_on_get(path, others):
        return Silence(f"{method} {path} was not asked: a workflow runs on GET there", certain=False)
    if any(answering(hook, hooks_of(document)) not in (None, hook) for document in others):
        return Silence(f"a dynamic path covers {path}, and would be heard in its place", certain=False)
    while True:
        silence = _heard(webhooks.get(path)["response"], method, path)
        if silence is None or time.monotonic() + _PAUSE > deadline:
            return silence
        time.sleep(_PAUSE)


def _heard(response: Mapping[str, Any], method: str, path: str) -> Silence | None:
    kind, body = reading_of(response), response["body"]
    words = f"GET {path}: {words_of(response, kind)}"
    if kind is Kind.WRONG_METHOD:
        named = _OTHER_METHODS.search(str(body.get("message", "")) if isinstance(body, Mapping) else "")
        listens = named is not None and method in re.split(r", | or ", named[1])
        return None if listens else Silence(f"{words}, and not for {method} either", certain=True)
    return Silence(words, certain=kind is Kind.NOT_REGISTERED)
