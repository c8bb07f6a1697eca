"""`/webhook/…` of the stand-in: body, registration, authentication, execution, in n8n's order."""

from __future__ import annotations

import hmac
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.wrappers import Request

from butlerctl.lab.n8n import answers
from butlerctl.lab.n8n.answers import Answer
from butlerctl.lab.n8n.credentials import Credentials, credential_of
from butlerctl.lab.n8n.engine import execute
from butlerctl.lab.n8n.executions import Execution, Executions
from butlerctl.lab.n8n.google_nodes import GoogleCalls
from butlerctl.lab.n8n.nodes import Context, Item
from butlerctl.lab.n8n.workflows import Version, Workflow, Workflows
from butlerctl.n8n.hooks import answering
from butlerctl.workflows.workflow import RESPOND

PAYLOAD_LIMIT = 16 * 1024 * 1024
"""Bytes; `N8N_PAYLOAD_SIZE_MAX` of n8n."""


@dataclass(slots=True)
class Switches:
    """Behaviour that no workflow document can plant. Paths are those below `/webhook/`."""

    in_front: Callable[[str], Answer | None] = lambda _path: None
    """Asked before n8n, with the whole path: an answer of a proxy, a gate, a redirect; None lets it pass."""
    instead: dict[str, Answer] = field(default_factory=dict)
    """The workflow runs, and this answer goes out in place of its own."""
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds between the end of the work and the answer."""
    twice: set[str] = field(default_factory=set)
    """The write is carried out twice."""
    credentials: dict[str, Credentials] = field(default_factory=dict)
    """The workflow runs with this store in place of n8n's: one route's credential fails, its neighbour's lives."""


@dataclass(slots=True)
class WebhookServer:
    """Serves the production webhooks of all published workflows."""

    workflows: Workflows
    credentials: Credentials
    executions: Executions
    google: GoogleCalls
    switches: Switches = field(default_factory=Switches)
    timezone: str = "America/New_York"
    """The zone of a workflow that sets none, as `GENERIC_TIMEZONE`."""
    header: str = "X-L4CK3Y-Auth"
    """The header of a header credential that names none."""
    _closing: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        """Let slow answers go at once."""
        self._closing.set()

    def serve(self, request: Request, path: str) -> Answer:
        """`path` is what stands behind `/webhook/`, percent-decoded."""
        path = path.removesuffix("/")
        method = request.method
        if method == "OPTIONS":
            return self._preflight(request, path)
        try:
            body = _body(request)
        except _BadBody as error:
            return error.answer
        workflow = self.workflows.owner_of(method, path)
        if workflow is None:
            return self._unknown(method, path)
        return self._start(workflow, request, path, body)

    def _start(self, workflow: Workflow, request: Request, path: str, body: Any) -> Answer:
        """The answer of a registered workflow."""
        version = workflow.served_version
        if version is None:
            return answers.stale_registration(workflow.id)
        hook = answering((request.method, path), version.webhooks)
        node = version.webhooks[hook] if hook else None
        if node is None:
            return answers.broken("Cannot read properties of undefined (reading 'node')")
        refusal = self._refusal(version, node, request)
        if refusal is not None:
            return refusal
        answer = self._run(workflow, version, node, _item(request, body))
        self._closing.wait(self.switches.slow.get(path, 0))
        return self.switches.instead.get(path, answer)

    def _preflight(self, request: Request, path: str) -> Answer:
        if "Origin" not in request.headers:
            return Answer(204)
        known = self.workflows.methods_of(path)
        allowed = ", ".join(["OPTIONS", *known])
        wanted = request.headers.get("Access-Control-Request-Method")
        if wanted is not None and wanted not in known:
            text = f'The requested webhook "{wanted} {path}" is not registered.'
            if known:
                text = f"This webhook is not registered for {wanted} requests. Did you mean to make a {' or '.join(known)} request?"
            return answers.preflight_refused(text, allowed)
        headers = [("Access-Control-Allow-Methods", allowed)]
        if wanted is not None:
            headers.append(("Access-Control-Allow-Origin", request.headers["Origin"]))
        return Answer(204, headers=tuple(headers))

    def _unknown(self, method: str, path: str) -> Answer:
        known = self.workflows.methods_of(path)
        return (
            answers.wrong_method(method, " or ".join(known))
            if known
            else answers.not_registered(method, path)
        )

    def _refusal(self, version: Version, node: Mapping[str, Any], request: Request) -> Answer | None:
        """Why the request does not start the workflow, or None."""
        fault = _mode_fault(version, node)
        if fault:
            return answers.broken(fault)
        options = node["parameters"].get("options", {})
        allowed = str(options.get("ipWhitelist", ""))
        if allowed and (request.remote_addr or "") not in [part.strip() for part in allowed.split(",")]:
            return answers.ADDRESS_REFUSED
        if options.get("ignoreBots") and not request.headers.get("User-Agent", "").startswith("Mozilla/"):
            return answers.REFUSED
        if node["parameters"].get("authentication", "none") == "none":
            return None
        return self._unauthorised(node, request)

    def _unauthorised(self, node: Mapping[str, Any], request: Request) -> Answer | None:
        credential = self.credentials.get(credential_of(node, "httpHeaderAuth").get("id"), "httpHeaderAuth")
        if credential is None or not credential.data.get("value"):
            return answers.NO_AUTH_DATA
        sent = request.headers.get(credential.data.get("name") or self.header, "")
        right = hmac.compare_digest(sent.encode(), str(credential.data["value"]).encode())
        return None if right else answers.REFUSED

    def _run(self, workflow: Workflow, version: Version, node: Mapping[str, Any], item: Item) -> Answer:
        """Start the execution on a thread of its own and wait for its answer, at most its time limit."""
        execution = self.executions.begin(workflow, version)
        answered: queue.Queue[Answer] = queue.Queue()
        arguments = (execution, node, item, answered.put)
        threading.Thread(target=self._execute, args=arguments, name="n8n-execution", daemon=True).start()
        if node["parameters"].get("responseMode", "onReceived") == "onReceived":
            return answers.STARTED
        limit = workflow.settings.get("executionTimeout", -1)
        try:
            return answered.get(timeout=limit if limit > 0 else None)
        except queue.Empty:
            execution.cancel()
            return answers.TIMED_OUT

    def _execute(
        self, execution: Execution, node: Mapping[str, Any], item: Item, answer: Callable[[Answer], None]
    ) -> None:
        """The answers of the respond nodes, then that of the end: the first of them is the one that is sent."""
        version = execution.version
        mode = node["parameters"].get("responseMode", "onReceived")
        path = str(node["parameters"].get("path", "")).strip("/")
        context = Context(
            execution_id=execution.id,
            nodes={each["name"]: each for each in version.nodes},
            credentials=self.switches.credentials.get(path, self.credentials),
            google=self.google,
            timezone=execution.workflow.settings.get("timezone") or self.timezone,
            respond=answer,
            write_twice=path in self.switches.twice,
        )
        result = execute(context, version.connections, node["name"], item)
        execution.stored_from = time.monotonic() + self.executions.lag
        execution.finish(result)
        if mode == "lastNode":
            data = node["parameters"].get("responseData", "firstEntryJson")
            answer(_last_node_answer(data, result.last_items, failed=result.error is not None))
        else:
            answer(answers.EMPTY)


def _mode_fault(version: Version, node: Mapping[str, Any]) -> str:
    """What n8n finds wrong with the response mode before it looks at the header."""
    waits_for_respond = node["parameters"].get("responseMode", "onReceived") == "responseNode"
    connected = any(
        each["type"] == RESPOND and each["name"] in _reachable(version, node["name"])
        for each in version.nodes
    )
    if waits_for_respond and not connected:
        return "No Respond to Webhook node found in the workflow"
    if connected and not waits_for_respond:
        return "Unused Respond to Webhook node found in the workflow"
    return ""


def _reachable(version: Version, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            outputs = version.connections.get(name, {}).get("main", [])
            waiting += [target["node"] for targets in outputs for target in targets or []]
    return found


def _last_node_answer(data: str, items: list[Item], *, failed: bool) -> Answer:
    if failed:
        return answers.ERROR_IN_WORKFLOW
    if data == "noData":
        return answers.EMPTY
    if data == "allEntries":
        return answers.json_answer(200, items)
    return answers.json_answer(200, items[0]) if items else answers.broken("No item to return was found")


class _BadBody(Exception):
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def _body(request: Request) -> Any:
    """The body as the Webhook node sees it. XML is taken for nothing: no plugin of a butler sends it."""
    if (request.content_length or 0) > PAYLOAD_LIMIT:
        raise _BadBody(answers.TOO_LARGE)
    raw = request.get_data()
    kind = request.mimetype
    if kind == "application/json":
        return _json_body(raw)
    if kind == "application/x-www-form-urlencoded":
        return dict(parse_qsl(raw.decode(errors="replace")))
    return raw.decode(errors="replace") if kind == "text/plain" else {}


def _json_body(raw: bytes) -> Any:
    if not raw:
        return {}
    text = raw.decode("utf-8", errors="replace")
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise _BadBody(answers.bad_body(_json_hint(text, error))) from error
    return {} if parsed is None else parsed


def _json_hint(text: str, error: ValueError) -> str:
    """As V8 words it."""
    at = error.pos if isinstance(error, json.JSONDecodeError) else 0
    at += len(text[at:]) - len(text[at:].lstrip())
    if at >= len(text):
        return "Unexpected end of JSON input"
    return f"Unexpected token '{text[at]}', \"{text[:40]}\" is not valid JSON"


def _item(request: Request, body: Any) -> Item:
    """The webhook item: the whole request, the secret in its header included, as n8n keeps it."""
    return {
        "headers": {name.lower(): value for name, value in request.headers.items()},
        "params": {},
        "query": dict(request.args),
        "body": body,
        "webhookUrl": request.base_url,
        "executionMode": "production",
    }
