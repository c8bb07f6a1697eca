"""The owner of the lab's real n8n: sets it up, makes API keys, edits workflows as a person does."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from butlerctl.errors import Unreachable, UsageProblem
from butlerctl.lab.n8n.rest import SETTINGS
from butlerctl.lab.n8n.workflows import Refused
from butlerctl.redaction import register_secret

if TYPE_CHECKING:
    import httpx

_EMAIL = "owner@lab.example"
_SETUP_SECONDS = 20
_UNPUBLISH_SECONDS = 10


class Owner:
    """Signed in to the editor, and with an API key for everything. Close it, or use `close`."""

    def __init__(self, url: str) -> None:
        """Set the owner up. Raises Unreachable when n8n does not take one."""
        import httpx

        self._client = httpx.Client(base_url=url, trust_env=False, timeout=30)
        password = f"Lab1-{secrets.token_urlsafe(12)}"
        self._set_up({"email": _EMAIL, "firstName": "Example", "lastName": "Owner", "password": password})
        self._scopes: list[str] = self._say("GET", "/rest/api-keys/scopes")["data"]
        self._key = self.create_api_key(self._scopes)

    def close(self) -> None:
        self._client.close()

    def create_api_key(self, scopes: Iterable[str]) -> str:
        """With those of the scopes that this version of n8n knows."""
        known = [scope for scope in scopes if scope in self._scopes]
        made = self._say(
            "POST",
            "/rest/api-keys",
            {"label": secrets.token_hex(4), "scopes": known, "expiresAt": None},
        )
        key: str = made["data"]["rawApiKey"]
        register_secret(key)
        return key

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """The public API. Raises Refused with n8n's status and message."""
        return self._say(method, f"/api/v1/{path}", body, {"X-N8N-API-KEY": self._key})

    def editor(self, method: str, path: str, body: Any = None) -> Any:
        """What the editor in the browser calls. Raises Refused."""
        return self._say(method, f"/rest/{path}", body)["data"]

    def _say(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        answer = self._client.request(method, path, json=body, headers=dict(headers or {}))
        if answer.status_code >= 300:
            raise Refused(answer.status_code, _message(answer))
        return answer.json() if answer.content else None

    def _set_up(self, person: Mapping[str, str]) -> None:
        """Readiness comes a moment before this works."""
        deadline = time.monotonic() + _SETUP_SECONDS
        while True:
            answer = self._client.post("/rest/owner/setup", json=dict(person))
            if answer.status_code == 200:
                return
            if time.monotonic() > deadline:
                raise Unreachable(f"n8n takes no owner: {answer.status_code} {_message(answer)}")
            time.sleep(0.1)


class OwnersWorkflows:
    """The workflows of a real n8n, edited by its owner. `beside` runs n8n's command line beside the server."""

    def __init__(self, owner: Owner, beside: Callable[..., str]) -> None:
        self._owner = owner
        self._beside = beside

    def create(self, document: Mapping[str, Any]) -> str:
        """A new, inactive workflow; its id."""
        return str(self._owner.api("POST", "workflows", body_of(document))["id"])

    def update(self, workflow_id: str, document: Mapping[str, Any]) -> None:
        """`PUT`: saved, and published at once where the workflow is published."""
        self._owner.api("PUT", f"workflows/{workflow_id}", body_of(document))

    def save(self, workflow_id: str, document: Mapping[str, Any]) -> None:
        before = self._owner.editor("GET", f"workflows/{workflow_id}")
        draft = {**body_of(document), "versionId": before["versionId"]}
        self._owner.editor("PATCH", f"workflows/{workflow_id}", draft)

    def publish(self, workflow_id: str, version_id: str = "") -> None:
        wanted = {"versionId": version_id} if version_id else {}
        self._owner.api("POST", f"workflows/{workflow_id}/activate", wanted)

    def unpublish(self, workflow_id: str) -> None:
        self._owner.api("POST", f"workflows/{workflow_id}/deactivate")

    def archive(self, workflow_id: str) -> None:
        self._owner.editor("POST", f"workflows/{workflow_id}/archive")

    def unarchive(self, workflow_id: str) -> None:
        self._owner.editor("POST", f"workflows/{workflow_id}/unarchive")

    def remove(self, workflow_id: str) -> None:
        """n8n 2.41 answers before it has unpublished, and refuses to delete what it is still unpublishing."""
        self._owner.api("POST", f"workflows/{workflow_id}/deactivate")
        deadline = time.monotonic() + _UNPUBLISH_SECONDS
        while True:
            try:
                self._owner.api("DELETE", f"workflows/{workflow_id}")
            except Refused as refused:
                if "still being unpublished" not in str(refused) or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def publish_beside(self, workflow_id: str) -> None:
        self.unpublish(workflow_id)
        self._beside("publish:workflow", f"--id={workflow_id}")

    def publish_unheard(self, workflow_id: str, document: Mapping[str, Any]) -> NoReturn:
        del workflow_id, document
        raise UsageProblem(
            "one process of the real n8n runs what it publishes",
            hint="leave out --engine real for this fault",
        )

    def unpublish_beside(self, workflow_id: str) -> None:
        self._beside("unpublish:workflow", f"--id={workflow_id}")


def body_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What create and update take of a workflow."""
    settings = {key: value for key, value in (document.get("settings") or {}).items() if key in SETTINGS}
    return {
        "name": document["name"],
        "nodes": document["nodes"],
        "connections": document["connections"],
        "settings": settings,
    }


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200]
