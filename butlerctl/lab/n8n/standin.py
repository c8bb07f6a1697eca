"""The n8n stand-in as the lab sees it: fill it, serve it (`start`, or `app`), plant faults, look inside.

Faults are planted by editing documents (`workflows.save` and `publish`, `import_workflow`), by changing the
credential store (`credentials`), or with `switches` for what no document can say.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request

from butlerctl.lab.n8n import answers
from butlerctl.lab.n8n.answers import Answer, json_answer
from butlerctl.lab.n8n.credentials import Credential, Credentials
from butlerctl.lab.n8n.executions import Executions
from butlerctl.lab.n8n.google_nodes import GoogleCalls
from butlerctl.lab.n8n.rest import DEPLOY_SCOPES, READ_SCOPES, RestApi
from butlerctl.lab.n8n.webhooks import Switches, WebhookServer
from butlerctl.lab.n8n.workflows import Workflows
from butlerctl.lab.server import LoopbackServer

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

VERSION = "2.30.8"


class N8nStandIn:
    """A WSGI application (`app`) that answers as n8n 2.30.8 does. `google_url` is the base of the emulator."""

    def __init__(
        self, *, google_url: str, webhook_header: str = "X-L4CK3Y-Auth", version: str = VERSION
    ) -> None:
        self.credentials = Credentials()
        self.workflows = Workflows(self.credentials)
        self.executions = Executions()
        self._google = GoogleCalls(google_url)
        self._keys: dict[str, frozenset[str]] = {}
        self._webhooks = WebhookServer(
            self.workflows, self.credentials, self.executions, self._google, header=webhook_header
        )
        self.rest = RestApi(self.workflows, self.credentials, self.executions, self._keys, version=version)
        self._server: LoopbackServer | None = None

    @property
    def switches(self) -> Switches:
        return self._webhooks.switches

    def start(self) -> str:
        """Serve it on a loopback port of its own; the address."""
        self._server = LoopbackServer(self.app).start()
        return self._server.url

    def close(self) -> None:
        """Stop serving, let slow answers go and close the connections to Google."""
        self._webhooks.close()
        if self._server is not None:
            self._server.close()
        self._google.close()

    def add_credential(self, credential_id: str, name: str, kind: str, data: Mapping[str, Any]) -> Credential:
        """Store a credential under a known id.

        `data` of a Google type is `{clientId, clientSecret, oauthTokenData: {access_token, refresh_token}}`, of
        `httpHeaderAuth` `{value}` and, where it is not the stand-in's, the `name` of the header.
        """
        credential = Credential(credential_id, name, kind, dict(data))
        self.credentials.add(credential)
        return credential

    def spoil_credential(self, credential_id: str, data: Mapping[str, Any] | None, *, path: str) -> None:
        """The webhook at `path` finds this credential with other data, or (None) not at all."""
        store = Credentials()
        for credential in self.credentials:
            if credential.id != credential_id:
                store.add(credential)
            elif data is not None:
                store.add(replace(credential, data=dict(data)))
        self.switches.credentials[path] = store

    def import_workflow(self, document: Mapping[str, Any], *, active: bool = True) -> str:
        """Import an export as the CLI does, keeping its id, and publish it.

        Raises Refused where n8n refuses to publish: placeholder places, a missing credential, a path in use.
        """
        workflow_id = str(document.get("id") or "")
        if any(each.id == workflow_id for each in self.workflows):
            self.workflows.unpublish(workflow_id)
        workflow = self.workflows.create(document, workflow_id)
        if active:
            self.workflows.publish(workflow.id)
        return workflow.id

    def create_api_key(self, scopes: Iterable[str] = (*READ_SCOPES, *DEPLOY_SCOPES)) -> str:
        """A new API key that may do this and nothing else."""
        key = f"lab-{secrets.token_urlsafe(24)}"
        self._keys[key] = frozenset(scopes)
        return key

    def app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        answer = self.switches.in_front(request.path) or answers.with_tag(self._answer(request, request.path))
        if request.method == "HEAD":
            answer = Answer(answer.status, b"", answer.content_type, answer.headers, sized=False)
        return answer.send(start_response)

    def _answer(self, request: Request, path: str) -> Answer:
        if path.startswith("/webhook/"):
            return self._webhooks.serve(request, path.removeprefix("/webhook/"))
        if path.startswith("/api/v1/"):
            return self.rest.serve(request, path.removeprefix("/api/v1/"))
        if path.startswith("/webhook-test/"):
            return answers.no_test_webhook(path.removeprefix("/webhook-test/"))
        if path in ("/healthz", "/healthz/readiness"):
            return json_answer(200, {"status": "ok"})
        wants_page = path == "/" or request.accept_mimetypes.accept_html
        known = wants_page and path != "/metrics" and not path.startswith("/webhook-waiting/")
        if request.method == "GET" and known:
            return answers.editor_page(self.rest.version)
        return answers.cannot(request.method, path)
