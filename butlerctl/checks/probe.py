"""Four probes of each webhook, without a side effect: registered, guarded without and with a wrong key, answering.

A probe that could act is not sent; a document with `skipped` says why. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from butlerctl.checks.live import LiveWorkflow, webhooks_of
from butlerctl.evidence import Document
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.executions import find_by_id
from butlerctl.n8n.webhooks import Key, Target, Webhooks
from butlerctl.workflows.digest import canonical_digest
from butlerctl.workflows.input_check import acts_only_on_checked_input

FORBIDDEN: Mapping[str, Any] = {"butlerctl": "probe"}
"""A field that no tool has: every workflow of the contract refuses it before Google is asked."""

_AT_ONCE = 12


@dataclass(frozen=True, slots=True)
class Subject:
    """One webhook to probe: its path, what ought to run there, and what n8n says runs there (None: unknown)."""

    route: Route
    path: str
    export: Mapping[str, Any]
    live: LiveWorkflow | None
    read_body: Mapping[str, Any]
    """A real read for the answering probe of a read route; unused on a write route."""


def target_of(inventory: Inventory) -> Target:
    """Raises SecretMissing."""
    webhook = inventory.n8n.webhook
    secret = webhook.secret.get() if webhook.secret else ""
    return Target(inventory.n8n.url.get(), webhook.header, secret, webhook.user_agent, webhook.timeout)


def subject_of(
    inventory: Inventory, route: Route, export: Mapping[str, Any], live: LiveWorkflow | None
) -> Subject:
    path = route.webhook_path(inventory.n8n.webhook.prefix)
    read: dict[str, Any] = {"limit": 1}
    if route.operation == "sheets_read":
        read["sheet"] = inventory.profiles[route.profile].spreadsheet.verify_tab
    return Subject(route, path, export, live, read)


def probe(target: Target, subjects: Sequence[Subject]) -> dict[Route, tuple[Document, ...]]:
    """The `exchange` documents of all webhooks, in the order of the four probes.

    All webhooks at once over one client, each request on a connection of its own. Raises nothing for what an
    answer is, or for a missing one: that is evidence.
    """
    if not subjects:
        return {}
    with Webhooks(target) as webhooks, ThreadPoolExecutor(min(_AT_ONCE, len(subjects))) as pool:
        found = pool.map(lambda subject: tuple(_probe(webhooks, subject)), subjects)
        return {subject.route: documents for subject, documents in zip(subjects, found, strict=True)}


def failed_execution(api: N8nApi, documents: Sequence[Document]) -> Document | None:
    """The execution behind an answer of the answering probe that was no success: it names the cause.

    Raises Unreachable, NotPermitted, TryAgain.
    """
    response = next((item.get("response") or {} for item in documents if item["probe"] == "answering"), {})
    body = response.get("body")
    named = body.get("execution") if isinstance(body, Mapping) else None
    expected = (200, 400)  # an answer, or the refusal of forbidden input
    return find_by_id(api, str(named)) if named and response["status"] not in expected else None


def _probe(webhooks: Webhooks, subject: Subject) -> Iterator[Document]:
    registered = webhooks.options(subject.path)
    yield {**registered, "probe": "registered"}
    silent = "" if registered["response"]["status"] is not None else "nobody answered the first probe"
    refusal = silent or _not_without_key(subject)
    for name, key in (("without_key", Key.NONE), ("wrong_key", Key.WRONG)):
        if refusal:
            yield _skipped(name, subject, refusal)
        else:
            yield {**webhooks.post(subject.path, FORBIDDEN, key), "probe": name}
    refusal = silent or _not_with_key(subject)
    if refusal:
        yield _skipped("answering", subject, refusal)
    else:
        writes = OPERATIONS[subject.route.operation].writes
        body = FORBIDDEN if writes else subject.read_body
        yield {**webhooks.post(subject.path, body, Key.RIGHT), "probe": "answering"}


def _skipped(name: str, subject: Subject, reason: str) -> Document:
    return {
        "kind": "exchange",
        "seen_by": "probe",
        "probe": name,
        "route": {"operation": subject.route.operation, "profile": subject.route.profile},
        "skipped": reason,
    }


def _not_without_key(subject: Subject) -> str:
    """Why no request may go out without the right key: a webhook without authentication would run.

    What n8n serves decides; the export only where n8n's word is missing.
    """
    if subject.live is None:
        who, served = "the export", subject.export
    else:
        who, served = "the live workflow", subject.live.published or subject.live.document
    kinds = {str(parameters.get("authentication", "none")) for parameters in webhooks_of(served)}
    if kinds == {"headerAuth"}:
        return ""
    return f"{who} has a webhook with authentication {', '.join(sorted(kinds)) or 'unknown'}: it would run"


def _not_with_key(subject: Subject) -> str:
    """Why the request with the key may not go out to a write route: it could write."""
    if not OPERATIONS[subject.route.operation].writes:
        return ""
    if subject.live is None:
        return "what n8n serves here is not known: no API key, or no such workflow"
    if subject.live.published is None:
        return "nothing is published"
    if canonical_digest(subject.live.published) != canonical_digest(subject.export):
        return "the published version is not the export: whether it checks its input is not known"
    if not acts_only_on_checked_input(subject.export):
        return "in the export a node acts that is not behind the input check"
    return ""
