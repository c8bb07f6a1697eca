"""The part of n8n's public API (`/api/v1`) that butlerctl reads and deploys with."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from werkzeug.wrappers import Request

from butlerctl.lab.n8n.answers import Answer, json_answer
from butlerctl.lab.n8n.audit import audit
from butlerctl.lab.n8n.credentials import Credential, Credentials, new_id
from butlerctl.lab.n8n.executions import Execution, Executions
from butlerctl.lab.n8n.tags import Tags
from butlerctl.lab.n8n.workflows import Refused, Workflow, Workflows

READ_SCOPES = ("workflow:list", "workflow:read", "execution:list", "execution:read")
"""What a key for verification needs; `credential:list` lets it compare credential ids too."""

DEPLOY_SCOPES = (
    "workflow:create",
    "workflow:update",
    "workflow:activate",
    "workflow:deactivate",
    "credential:list",
)
"""What a key needs beside those to deploy."""

STATUSES = ("canceled", "crashed", "error", "new", "running", "success", "unknown", "waiting")
_NAMING_THE_SAVED = tuple(f"2.{minor}." for minor in range(31))
"""These versions call the saved version the one that an execution ran; 2.41.1 names the one that did."""
_PAGE = 100
_MOST = 250
_BODY_KEYS = ("name", "nodes", "connections", "settings")
_ALSO_TAKEN = ("staticData", "pinData", "shared", "projectId", "nodeGroups")
_READ_ONLY = (
    "active",
    "createdAt",
    "id",
    "isArchived",
    "meta",
    "tags",
    "triggerCount",
    "updatedAt",
    "versionId",
)
SETTINGS = (
    "executionOrder",
    "timezone",
    "errorWorkflow",
    "executionTimeout",
    "saveDataErrorExecution",
    "saveDataSuccessExecution",
    "saveExecutionProgress",
    "saveManualExecutions",
    "callerPolicy",
    "callerIds",
    "customTelemetryTags",
    "availableInMCP",
    "timeSavedPerExecution",
    "redactionPolicy",
)
_LIST_LACKS = ("description", "nodeGroups", "versionCounter", "sourceWorkflowId")


@dataclass(slots=True)
class RestApi:
    """`keys` maps an API key to its scopes."""

    workflows: Workflows
    credentials: Credentials
    executions: Executions
    keys: dict[str, frozenset[str]]
    tags: Tags = field(default_factory=Tags)
    version: str = "2.30.8"
    """On n8n 1 credentials are not listed, and an execution does not name its version."""
    shown_bytes: int = 100 * 1024 * 1024
    """An execution with more data than this comes without them, unless they are insisted on."""

    def serve(self, request: Request, path: str) -> Answer:
        """`path` is what stands behind `/api/v1/`."""
        key = request.headers.get("X-N8N-API-KEY")
        if key is None:
            return _say(401, "'X-N8N-API-KEY' header required")
        scopes = self.keys.get(key)
        if scopes is None:
            return _say(401, "unauthorized")
        parts = path.strip("/").split("/")
        endpoint = _endpoint(request.method, parts)
        if endpoint is None or (self.version.startswith("1.") and endpoint[1] is RestApi.list_credentials):
            known = any(_endpoint(method, parts) for method in ("GET", "POST", "PUT", "DELETE"))
            return _say(405, f"{request.method} method not allowed") if known else _say(404, "not found")
        scope, handler, values = endpoint
        if scope not in scopes:
            return _say(403, "Forbidden")
        try:
            return handler(self, request, *values)
        except Refused as refusal:
            return _say(refusal.status, refusal.message)

    def list_workflows(self, request: Request) -> Answer:
        found = sorted(self.workflows, key=lambda workflow: workflow.created, reverse=True)
        wanted = request.args
        if "active" in wanted:
            found = [
                workflow for workflow in found if bool(workflow.published) == (wanted["active"] == "true")
            ]
        if "name" in wanted:
            found = [workflow for workflow in found if workflow.name == wanted["name"]]
        documents = [
            {key: value for key, value in self._document(each).items() if key not in _LIST_LACKS}
            for each in found
        ]
        return _paged(request, documents)

    def _document(self, workflow: Workflow) -> dict[str, Any]:
        return workflow_document(workflow) | {"tags": self.tags.of(workflow.tags)}

    def get_workflow(self, _request: Request, workflow_id: str) -> Answer:
        return json_answer(200, self._document(self.workflows.get(workflow_id)))

    def get_version(self, _request: Request, workflow_id: str, version_id: str) -> Answer:
        workflow = next((each for each in self.workflows if each.id == workflow_id), None)
        if workflow is None or version_id not in workflow.versions:
            raise Refused(404, "Version not found")
        return json_answer(200, _version_document(workflow_id, workflow, version_id))

    def create_workflow(self, request: Request) -> Answer:
        return json_answer(200, self._document(self.workflows.create(_workflow_body(request))))

    def update_workflow(self, request: Request, workflow_id: str) -> Answer:
        self.workflows.get(workflow_id, to="update")
        return json_answer(200, self._document(self.workflows.update(workflow_id, _workflow_body(request))))

    def delete_workflow(self, _request: Request, workflow_id: str) -> Answer:
        document = self._document(self.workflows.get(workflow_id))
        self.workflows.remove(workflow_id)
        return json_answer(200, document)

    def activate(self, request: Request, workflow_id: str) -> Answer:
        self.workflows.get(workflow_id, to="activate")
        body = request.get_json(silent=True) or {}
        return json_answer(
            200, self._document(self.workflows.publish(workflow_id, body.get("versionId", "")))
        )

    def deactivate(self, _request: Request, workflow_id: str) -> Answer:
        self.workflows.get(workflow_id, to="deactivate")
        return json_answer(200, self._document(self.workflows.unpublish(workflow_id)))

    def archive(self, _request: Request, workflow_id: str) -> Answer:
        return json_answer(200, self._document(self.workflows.archive(workflow_id)))

    def list_executions(self, request: Request) -> Answer:
        wanted = request.args
        status = wanted.get("status")
        if status is not None and status not in STATUSES:
            raise Refused(
                400, f"request/query/status must be equal to one of the allowed values: {', '.join(STATUSES)}"
            )
        found = [
            execution
            for execution in self.executions
            if wanted.get("workflowId") in (None, execution.workflow.id)
            and (execution.shown_status == status if status else execution.shown_status != "running")
        ]
        return _paged(request, [self._shown(request, execution) for execution in found])

    def get_execution(self, request: Request, execution_id: str) -> Answer:
        if not execution_id.isdigit():
            raise Refused(400, "request/params/id must be number")
        execution = self.executions.get(execution_id)
        if execution is None:
            raise Refused(404, "Not Found")
        return json_answer(200, self._shown(request, execution))

    def _shown(self, request: Request, execution: Execution) -> dict[str, Any]:
        insisted = request.args.get("ignoreDataSizeLimit") == "true"
        with_data = request.args.get("includeData") == "true"
        shown = execution.as_json(with_data=with_data, limit=None if insisted else self.shown_bytes)
        if self.version.startswith("1."):
            shown.pop("workflowVersionId", None)
        elif with_data and not self.version.startswith(_NAMING_THE_SAVED):
            shown["workflowVersionId"] = execution.version.id
        return shown

    def list_tags(self, request: Request) -> Answer:
        return _paged(request, list(self.tags))

    def create_tag(self, request: Request) -> Answer:
        return json_answer(201, self.tags.add((request.get_json(silent=True) or {})["name"]))

    def delete_tag(self, _request: Request, tag_id: str) -> Answer:
        return json_answer(200, self.tags.remove(tag_id))

    def tag_workflow(self, request: Request, workflow_id: str) -> Answer:
        workflow = self.workflows.get(workflow_id)
        workflow.tags = self.tags.require([each["id"] for each in request.get_json(silent=True) or []])
        return json_answer(200, self.tags.of(workflow.tags))

    def run_audit(self, request: Request) -> Answer:
        options = (request.get_json(silent=True) or {}).get("additionalOptions") or {}
        return json_answer(200, audit(self.workflows, options.get("categories") or []))

    def list_credentials(self, request: Request) -> Answer:
        return _paged(request, [credential.as_json() for credential in self.credentials])

    def create_credential(self, request: Request) -> Answer:
        body = request.get_json(silent=True) or {}
        if "id" in body:
            raise Refused(400, "request/body/id is read-only")
        credential = Credential(new_id(), body["name"], body["type"], dict(body["data"]))
        self.credentials.add(credential)
        return json_answer(200, credential.as_json())

    def delete_credential(self, _request: Request, credential_id: str) -> Answer:
        found = next((each for each in self.credentials if each.id == credential_id), None)
        if found is None:
            raise Refused(404, "Not Found")
        self.credentials.remove(credential_id)
        return json_answer(200, found.as_json())


def workflow_document(workflow: Workflow) -> dict[str, Any]:
    """As `GET /api/v1/workflows/{id}` returns it: the saved version, and the published one beside it."""
    saved = workflow.versions[workflow.saved]
    active = workflow.published
    return {
        "updatedAt": workflow.updated,
        "createdAt": workflow.created,
        "id": workflow.id,
        "name": workflow.name,
        "description": None,
        "active": active is not None,
        "isArchived": workflow.archived,
        "nodes": saved.nodes,
        "connections": saved.connections,
        "settings": workflow.settings,
        "staticData": None,
        "meta": workflow.meta,
        "nodeGroups": [],
        "pinData": {},
        "versionId": workflow.saved,
        "activeVersionId": active,
        "versionCounter": len(workflow.versions),
        "triggerCount": len(saved.webhooks),
        "sourceWorkflowId": None,
        "shared": [],
        "activeVersion": _version_document(workflow.id, workflow, active) if active else None,
    }


def _version_document(workflow_id: str, workflow: Workflow, version_id: str) -> dict[str, Any]:
    version = workflow.versions[version_id]
    return {
        "updatedAt": version.created,
        "createdAt": version.created,
        "versionId": version.id,
        "workflowId": workflow_id,
        "nodes": version.nodes,
        "connections": version.connections,
        "nodeGroups": [],
        "authors": "Example Owner",
        "name": None,
        "description": None,
        "autosaved": False,
    }


def _workflow_body(request: Request) -> Mapping[str, Any]:
    """The body of create and update. Raises Refused 400 with n8n's words."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise Refused(400, "request/body must be object")
    missing = [key for key in _BODY_KEYS if key not in body]
    if missing:
        raise Refused(400, f"request/body must have required property '{missing[0]}'")
    for key in body:
        if key == "activeVersion":
            raise Refused(400, 'request/body/activeVersion must pass "readOnly" keyword validation')
        if key in _READ_ONLY:
            raise Refused(400, f"request/body/{key} is read-only")
        if key not in _BODY_KEYS and key not in _ALSO_TAKEN:
            raise Refused(400, "request/body must NOT have additional properties")
    if not set(body["settings"]) <= set(SETTINGS):
        raise Refused(400, "request/body/settings must NOT have additional properties")
    settings = {key: value for key, value in body["settings"].items() if key != "redactionPolicy"}
    return {**body, "settings": settings}


def _paged(request: Request, documents: Sequence[Mapping[str, Any]]) -> Answer:
    limit = request.args.get("limit", _PAGE, type=int)
    if limit > _MOST:
        raise Refused(400, f"request/query/limit must be <= {_MOST}")
    offset = _offset(request.args.get("cursor"))
    following = offset + limit
    cursor = json.dumps({"limit": limit, "offset": following}).encode()
    more = base64.b64encode(cursor).decode() if following < len(documents) else None
    return json_answer(200, {"data": list(documents[offset:following]), "nextCursor": more})


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        return int(json.loads(base64.b64decode(cursor))["offset"])
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(400, "An invalid cursor was provided") from error


def _say(status: int, message: str) -> Answer:
    return json_answer(status, {"message": message})


_Handler = Callable[..., Answer]
_ENDPOINTS: tuple[tuple[str, str, str, _Handler], ...] = (
    ("GET", "workflows", "workflow:list", RestApi.list_workflows),
    ("POST", "workflows", "workflow:create", RestApi.create_workflow),
    ("GET", "workflows/*", "workflow:read", RestApi.get_workflow),
    ("PUT", "workflows/*", "workflow:update", RestApi.update_workflow),
    ("DELETE", "workflows/*", "workflow:delete", RestApi.delete_workflow),
    ("POST", "workflows/*/activate", "workflow:activate", RestApi.activate),
    ("POST", "workflows/*/deactivate", "workflow:deactivate", RestApi.deactivate),
    ("POST", "workflows/*/archive", "workflow:delete", RestApi.archive),
    ("GET", "workflows/*/*", "workflow:read", RestApi.get_version),
    ("PUT", "workflows/*/tags", "workflowTags:update", RestApi.tag_workflow),
    ("GET", "executions", "execution:list", RestApi.list_executions),
    ("GET", "executions/*", "execution:read", RestApi.get_execution),
    ("GET", "credentials", "credential:list", RestApi.list_credentials),
    ("POST", "credentials", "credential:create", RestApi.create_credential),
    ("DELETE", "credentials/*", "credential:delete", RestApi.delete_credential),
    ("GET", "tags", "tag:list", RestApi.list_tags),
    ("POST", "tags", "tag:create", RestApi.create_tag),
    ("DELETE", "tags/*", "tag:delete", RestApi.delete_tag),
    ("POST", "audit", "securityAudit:generate", RestApi.run_audit),
)


def _endpoint(method: str, parts: Sequence[str]) -> tuple[str, _Handler, list[str]] | None:
    """The scope, the handler and the values of the stars, of the first endpoint that fits."""
    for verb, pattern, scope, handler in _ENDPOINTS:
        names = pattern.split("/")
        fits = len(names) == len(parts) and all(
            name in ("*", part) for name, part in zip(names, parts, strict=True)
        )
        if verb == method and fits:
            return scope, handler, [part for name, part in zip(names, parts, strict=True) if name == "*"]
    return None
