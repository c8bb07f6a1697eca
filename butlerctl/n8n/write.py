"""Client of n8n's public REST API that also writes: create, save, publish and unpublish workflows.

What n8n 2.30.8 does: a new workflow is never published. An update of a published one is published at once, and
counts as published even when n8n then refuses it (409 for a taken path, 400 for its nodes). Settings are merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from butlerctl.errors import N8nRefused, NotPermitted, TryAgain
from butlerctl.n8n.answers import Kind
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.api_answers import ApiAnswer

SETTINGS = frozenset(
    {
        "availableInMCP",
        "callerIds",
        "callerPolicy",
        "customTelemetryTags",
        "errorWorkflow",
        "executionOrder",
        "executionTimeout",
        "redactionPolicy",
        "saveDataErrorExecution",
        "saveDataSuccessExecution",
        "saveExecutionProgress",
        "saveManualExecutions",
        "timeSavedPerExecution",
        "timezone",
    }
)
"""The settings that the API takes; any other one makes it refuse the whole body."""

NODE_KEYS = frozenset(
    {
        "alwaysOutputData",
        "continueOnFail",
        "credentials",
        "customTelemetryTags",
        "disabled",
        "executeOnce",
        "id",
        "maxTries",
        "name",
        "notes",
        "notesInFlow",
        "onError",
        "parameters",
        "position",
        "retryOnFail",
        "type",
        "typeVersion",
        "waitBetweenTries",
        "webhookId",
    }
)
"""The keys of a node that the API takes."""

_SCOPES = "workflow:create, workflow:update, workflow:activate and workflow:deactivate"


class N8nWriter(N8nApi):
    """Every write answers with the workflow as n8n then holds it. None is sent twice.

    Beyond what N8nApi raises: N8nRefused when n8n says no. Unreachable leaves open whether n8n did it, now or in a
    moment: nobody answered, or somebody in its place. Everything else is n8n's own word, and n8n is done with it.
    """

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Not published, under an id of n8n's choice.

        Its id is taken from the answer, so that of another workflow must not pass for it.
        """
        created = self._write("POST", "workflows", body).document
        if not isinstance(created, dict) or not created.get("id"):
            raise self._not_the_api("workflows", "no workflow")
        if created.get("name") != body["name"] or created.get("active"):
            raise self._not_the_api("workflows", f"{created['id']} is not the workflow that was to be made")
        return self._sound("workflows", created)

    def update(self, workflow_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Save, and publish at once where the workflow is published."""
        path = _path_of(workflow_id)
        return self._sound(path, self._change("PUT", path, workflow_id, body))

    def activate(self, workflow_id: str, version_id: str) -> dict[str, Any]:
        """Publish one version, which may be an older one."""
        path = f"{_path_of(workflow_id)}/activate"
        return self._sound(path, self._change("POST", path, workflow_id, {"versionId": version_id}))

    def deactivate(self, workflow_id: str) -> dict[str, Any]:
        return self._change("POST", f"{_path_of(workflow_id)}/deactivate", workflow_id, {})

    def _change(self, method: str, path: str, workflow_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._object(self._write(method, path, body), path, "id", workflow_id)

    def _write(self, method: str, path: str, body: Mapping[str, Any]) -> ApiAnswer:
        """A success."""
        answer = self._ask(method, path, body=body)
        asked, said = f"{method} /api/v1/{path}", f"({answer.message})"
        if answer.status in (401, 403):
            raise NotPermitted(
                f"n8n does not let this API key do {asked} {said}",
                hint=f"to deploy, n8n.api_key needs {_SCOPES} too",
            )
        if answer.kind is Kind.NOT_READY or answer.status == 429 or answer.status >= 500:
            raise TryAgain(f"n8n answered {asked} with {answer.status} {said}")
        if answer.status >= 400:
            raise N8nRefused(
                f"n8n refused {asked} with {answer.status}: {answer.message}", status=answer.status
            )
        return answer


def _path_of(workflow_id: str) -> str:
    return f"workflows/{quote(workflow_id, safe='')}"


def body_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the API takes of a workflow: four keys, and of the settings those that it knows."""
    settings = document.get("settings") or {}
    return {
        "name": document.get("name"),
        "nodes": document.get("nodes") or [],
        "connections": document.get("connections") or {},
        "settings": {key: settings[key] for key in settings if key in SETTINGS},
    }
