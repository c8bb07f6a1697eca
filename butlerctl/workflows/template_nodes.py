"""The nodes and connections of a workflow that keeps the webhook contract; `template` makes files of them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.protocol.tools import MAX_EVENTS, MAX_ROWS, MAX_TASKS

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """What the exports hold about one person: places in Google, and ids of n8n credentials by domain."""

    name: str
    calendar: str
    task_lists: Mapping[str, str]
    spreadsheet: str
    credentials: Mapping[str, str]
    tabs: tuple[str, ...] = ("Log", "butler verify")
    columns: tuple[str, ...] = ("date", "item", "amount")


GOOGLE_REASONS = (
    ("needs to be reconnected", "invalid_grant"),
    ("authorization grant", "invalid_grant"),  # as n8n 1 words it
    ("Client authentication failed", "invalid_client"),
    ("does not exist for type", "credential_missing"),
    ("without access token", "not_connected"),
    ("Authorization failed", "unauthorized"),
    ("Forbidden", "forbidden"),
    ("could not be found", "not_found"),
    ("Sheet with name", "not_found"),
    ("too many requests", "rate_limited"),
    ("Bad request", "bad_request"),
    ("request is invalid", "bad_request"),
    ("not able to process", "server_error"),
    ("Service unavailable", "unavailable"),
    ("connection", "connection_failed"),
    ("Cannot read properties", "bad_answer"),
)
"""Words of n8n's error message -> `error.reason`. The Google nodes hand on nothing but the message: the 403s
for a missing scope, a rate limit and a switched-off API all read `Forbidden`."""

_MESSAGE = "String($json.error?.message ?? $json.error ?? 'unknown')"

_HELPERS = {
    "calendar_list": ("limit", "day", "instant"),
    "calendar_add": ("text", "day", "instant"),
    "tasks_list": ("name", "limit"),
    "tasks_add": ("text", "name", "day"),
    "sheets_read": ("name", "limit"),
    "sheets_append": ("name",),
}
_ALLOWED = {
    "calendar_list": ("start", "end", "limit"),
    "calendar_add": ("summary", "start", "end", "category"),
    "tasks_list": ("list", "limit"),
    "tasks_add": ("title", "due", "list"),
    "sheets_read": ("sheet", "limit"),
    "sheets_append": ("sheet", "values"),
}
_MOST = {"calendar_list": MAX_EVENTS, "tasks_list": MAX_TASKS, "sheets_read": MAX_ROWS}
_GOOGLE = {
    "calendar": ("Google Calendar", "n8n-nodes-base.googleCalendar", 1.3, "googleCalendarOAuth2Api"),
    "tasks": ("Google Tasks", "n8n-nodes-base.googleTasks", 1, "googleTasksOAuth2Api"),
    "sheets": ("Google Sheets", "n8n-nodes-base.googleSheets", 4.7, "googleSheetsOAuth2Api"),
}


def build_nodes(route: Route, person: Person, prefix: str, header_credential: str) -> list[Node]:
    """The nodes of one workflow, each with its stable id."""
    return [_identified(node, route) for node in _nodes(route, person, prefix, header_credential)]


def stable_uuid(route: Route, part: str) -> str:
    """The same id for the same part of the same route, always."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{part}.{route.operation}.{route.profile}.example.test"))


def _identified(node: Node, route: Route) -> Node:
    """The node with its ids, in the key order of the editor's download."""
    ordered = {key: node[key] for key in ("parameters", "type", "typeVersion", "position")}
    ordered["id"] = stable_uuid(route, node["name"])
    ordered["name"] = node["name"]
    if node["type"] == "n8n-nodes-base.webhook":
        ordered["webhookId"] = stable_uuid(route, "webhookId")
    return ordered | node


def _nodes(route: Route, person: Person, prefix: str, header_credential: str) -> Iterator[Node]:
    yield _webhook(route, prefix, header_credential)
    yield _code("Check input", check_script(route.operation, person), [220, 0])
    yield _input_ok(route)
    yield from _google_nodes(route.operation, person)
    yield _code("Format response", format_script(route.operation, person), [1100, -200])
    yield _respond(
        "Respond ok", 200, "{ ok: true, data: $json.data, execution: $execution.id }", [1320, -200]
    )
    yield _refusal("Respond invalid args", 400, _invalid_args(route), [660, 200])
    yield _refusal("Respond google error", 502, _google_error(route, "request"), [1320, 0])
    yield _refusal("Respond bad answer", 502, _bad_answer(route), [1320, -400])
    if route.operation == "sheets_append":
        yield _refusal(
            "Respond not confirmed", 502, f"{_google_error(route, 'read_back')}, written: true", [1320, -600]
        )
    yield _refusal("Respond internal error", 500, _workflow_error(route), [880, 400])
    yield {
        "parameters": {"errorMessage": f"={{{{ {_MESSAGE} }}}}"},
        "type": "n8n-nodes-base.stopAndError",
        "typeVersion": 1,
        "position": [1540, 100],
        "name": "Mark execution failed",
    }


def _webhook(route: Route, prefix: str, header_credential: str) -> Node:
    return {
        "parameters": {
            "httpMethod": "POST",
            "path": route.webhook_path(prefix),
            "authentication": "headerAuth",
            "responseMode": "responseNode",
            "options": {},
        },
        "type": "n8n-nodes-base.webhook",
        "typeVersion": 2.1,
        "position": [0, 0],
        "name": "Webhook",
        "credentials": {
            "httpHeaderAuth": {
                "id": header_credential,
                "name": f"{prefix} webhook auth".strip(),
            }
        },
    }


def _code(name: str, script: str, position: list[int]) -> Node:
    return {
        "parameters": {"jsCode": script},
        "type": "n8n-nodes-base.code",
        "typeVersion": 2,
        "position": position,
        "name": name,
        "onError": "continueErrorOutput",
    }


def check_script(operation: str, person: Person) -> str:
    """The JavaScript that refuses what the tool schemas of `butlerctl.protocol.tools` refuse."""
    constants: dict[str, Any] = {"ALLOWED": _ALLOWED[operation]}
    if operation in _MOST:
        constants["MOST"] = _MOST[operation]
    if operation in ("tasks_list", "tasks_add"):
        constants["LISTS"] = tuple(person.task_lists)
    if operation in ("sheets_read", "sheets_append"):
        constants["TABS"] = person.tabs
    if operation == "sheets_append":
        constants["COLUMNS"] = person.columns
    return _script(
        constants, ["check_body", *(f"check_{part}" for part in _HELPERS[operation])], f"check_{operation}"
    )


def format_script(operation: str, person: Person) -> str:
    """The JavaScript that makes the contract's `data` from Google's answer, and throws when it cannot."""
    constants: dict[str, Any] = {}
    if operation == "sheets_append":
        constants = {"SOURCE": "Read back", "COLUMNS": person.columns}
    elif not OPERATIONS[operation].writes:
        constants = {"SOURCE": _GOOGLE[OPERATIONS[operation].domain][0]}
    return _script(constants, ["format_rows"] if constants else [], f"format_{operation}")


def _script(constants: Mapping[str, Any], helpers: list[str], body: str) -> str:
    folder = Path(__file__).with_name("javascript")
    lines = [
        f"const {name} = {json.dumps(value, ensure_ascii=False)};\n" for name, value in constants.items()
    ]
    files = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in [*helpers, body]]
    return "".join([*lines, *files]).rstrip("\n")


def _input_ok(route: Route) -> Node:
    condition = {
        "id": stable_uuid(route, "condition"),
        "leftValue": "={{ $json.valid }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }
    return {
        "parameters": {
            "conditions": {
                "options": {
                    "caseSensitive": True,
                    "leftValue": "",
                    "typeValidation": "strict",
                    "version": 2,
                },
                "conditions": [condition],
                "combinator": "and",
            },
            "options": {},
        },
        "type": "n8n-nodes-base.if",
        "typeVersion": 2.2,
        "position": [440, 0],
        "name": "Input ok?",
    }


def _google_nodes(operation: str, person: Person) -> Iterator[Node]:
    yield _google(operation, person, _PARAMETERS[operation](person), [660, -100])
    if operation == "sheets_append":
        sheet = '={{ $node["Check input"].json["args"]["sheet"] }}'
        node = _google("sheets_read", person, _sheet(person, sheet), [880, -200])
        yield {**node, "name": "Read back"}


def _google(operation: str, person: Person, parameters: Mapping[str, Any], position: list[int]) -> Node:
    domain = OPERATIONS[operation].domain
    name, kind, version, credential = _GOOGLE[domain]
    node: Node = {
        "parameters": dict(parameters),
        "type": kind,
        "typeVersion": version,
        "position": position,
        "name": name,
        "onError": "continueErrorOutput",
        "credentials": {credential: {"id": person.credentials[domain], "name": f"{person.name} {name}"}},
    }
    if not OPERATIONS[operation].writes:
        node["alwaysOutputData"] = True
    return node


def _located(value: str, mode: str = "id") -> dict[str, Any]:
    return {"__rl": True, "value": value, "mode": mode}


def _calendar_list(person: Person) -> dict[str, Any]:
    return {
        "operation": "getAll",
        "calendar": _located(person.calendar),
        "limit": "={{ $json.args.limit }}",
        "timeMin": "={{ $json.args.start }}",
        "timeMax": "={{ $json.args.end }}",
        "options": {"orderBy": "startTime"},
    }


def _calendar_add(person: Person) -> dict[str, Any]:
    return {
        "calendar": _located(person.calendar),
        "start": "={{ $json.args.start }}",
        "end": "={{ $json.args.end }}",
        "additionalFields": {
            "summary": "={{ $json.args.summary }}",
            "description": "={{ $json.args.category }}",
        },
    }


def _task_list(person: Person) -> str:
    ids = list(person.task_lists.values())
    if len(ids) == 1:
        return ids[0]
    return f"={{{{ ({json.dumps(dict(person.task_lists), ensure_ascii=False)})[$json.args.list] }}}}"


def _tasks_list(person: Person) -> dict[str, Any]:
    return {
        "operation": "getAll",
        "task": _task_list(person),
        "returnAll": True,
        "additionalFields": {"showCompleted": False},
    }


def _tasks_add(person: Person) -> dict[str, Any]:
    return {
        "task": _task_list(person),
        "title": "={{ $json.args.title }}",
        "additionalFields": {"dueDate": "={{ $json.args.due }}"},
    }


def _sheet(person: Person, name: str = "={{ $json.args.sheet }}") -> dict[str, Any]:
    return {"documentId": _located(person.spreadsheet), "sheetName": _located(name, "name"), "options": {}}


def _sheets_append(person: Person) -> dict[str, Any]:
    columns = {
        "mappingMode": "defineBelow",
        "value": {name: f"={{{{ $json.args.values[{at}] }}}}" for at, name in enumerate(person.columns)},
        "matchingColumns": [],
        "schema": [_column(name) for name in person.columns],
        "attemptToConvertTypes": False,
        "convertFieldsToString": False,
    }
    return {"operation": "append", **_sheet(person), "columns": columns}


def _column(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "displayName": name,
        "required": False,
        "defaultMatch": False,
        "display": True,
        "type": "string",
        "canBeUsedToMatch": True,
    }


_PARAMETERS = {
    "calendar_list": _calendar_list,
    "calendar_add": _calendar_add,
    "tasks_list": _tasks_list,
    "tasks_add": _tasks_add,
    "sheets_read": _sheet,
    "sheets_append": _sheets_append,
}


def _respond(name: str, status: int, body: str, position: list[int]) -> Node:
    return {
        "parameters": {
            "respondWith": "json",
            "responseBody": f"={{{{ JSON.stringify({body}) }}}}",
            "options": {"responseCode": status},
        },
        "type": "n8n-nodes-base.respondToWebhook",
        "typeVersion": 1.5,
        "position": position,
        "name": name,
    }


def _refusal(name: str, status: int, error: str, position: list[int]) -> Node:
    return _respond(
        name, status, f"{{ ok: false, error: {{ {error} }}, execution: $execution.id }}", position
    )


def _where(route: Route) -> str:
    return f"operation: '{route.operation}', profile: '{route.profile}'"


def _invalid_args(route: Route) -> str:
    message = "input refused, nothing was sent to Google"
    return f"code: 'invalid_args', message: '{message}', details: $json.bad, {_where(route)}"


def _google_error(route: Route, stage: str) -> str:
    table = ", ".join(f"['{words}', '{reason}']" for words, reason in GOOGLE_REASONS)
    reason = f"([{table}].find(pair => {_MESSAGE}.includes(pair[0])) ?? ['', 'unknown'])[1]"
    return f"code: 'google_error', message: {_MESSAGE}, reason: {reason}, {_where(route)}, stage: '{stage}'"


def _bad_answer(route: Route) -> str:
    return (
        f"code: 'google_error', message: {_MESSAGE}, reason: 'bad_answer', {_where(route)}, stage: 'answer'"
    )


def _workflow_error(route: Route) -> str:
    return f"code: 'workflow_error', message: {_MESSAGE}, {_where(route)}"


def build_connections(operation: str) -> dict[str, Any]:
    """n8n's connections: node -> one list of targets for each of its outputs."""
    google = _GOOGLE[OPERATIONS[operation].domain][0]
    outputs = {
        "Webhook": ["Check input"],
        "Check input": ["Input ok?", "Respond internal error"],
        "Input ok?": [google, "Respond invalid args"],
        google: ["Format response", "Respond google error"],
        "Format response": ["Respond ok", "Respond bad answer"],
        "Respond google error": ["Mark execution failed"],
        "Respond bad answer": ["Mark execution failed"],
        "Respond internal error": ["Mark execution failed"],
    }
    if operation == "sheets_append":
        outputs[google] = ["Read back", "Respond google error"]
        outputs["Read back"] = ["Format response", "Respond not confirmed"]
        outputs["Respond not confirmed"] = ["Mark execution failed"]
    return {
        source: {"main": [[{"node": target, "type": "main", "index": 0}] for target in targets]}
        for source, targets in outputs.items()
    }
