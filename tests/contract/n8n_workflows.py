"""Small workflows whose answers were recorded on n8n 2.30.8: each shows one thing that n8n does.

Plain export documents: they can be imported by the stand-in and by a real n8n alike.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise
from typing import Any

Document = dict[str, Any]
HEADER_CREDENTIAL = "cntrHeader000001"
CALENDAR_CREDENTIAL = "cntrCalendar0001"
TASKS_CREDENTIAL = "cntrTasks0000001"
SHEETS_CREDENTIAL = "cntrSheets000001"
HUSBAND = "husband@example.test"

ECHO = "={{ JSON.stringify({ ok: true, got: $json.body }) }}"
BOOM = "throw new Error('boom SECRETDETAIL inside');"
TWO_ITEMS = "return [{ json: { a: 1 } }, { json: { a: 2 } }];"


def node(name: str, kind: str, parameters: Document, version: float = 1, **settings: Any) -> Document:
    return {
        "parameters": parameters,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "position": [0, 0],
        "id": f"node-{name}",
        "name": name,
        **settings,
    }


def webhook(path: str, mode: str = "responseNode", method: str = "POST", **parameters: Any) -> Document:
    wanted = {
        "httpMethod": method,
        "path": path,
        "authentication": "headerAuth",
        "responseMode": mode,
        "options": {},
    }
    credential = {"httpHeaderAuth": {"id": HEADER_CREDENTIAL, "name": "webhook auth"}}
    return node(
        "Webhook", "webhook", wanted | parameters, 2.1, webhookId=f"hook-{path}", credentials=credential
    )


def code(script: str, name: str = "Format response", **settings: Any) -> Document:
    return node(name, "code", {"jsCode": script}, 2, **settings)


def respond(body: str = "={{ JSON.stringify($json) }}", with_: str = "json", **options: Any) -> Document:
    parameters = {"respondWith": with_, "responseBody": body, "options": options}
    return node("Respond to Webhook", "respondToWebhook", parameters, 1.5)


def if_false() -> Document:
    condition = {
        "leftValue": "={{ false }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true"},
    }
    return node(
        "If", "if", {"conditions": {"conditions": [condition], "combinator": "and"}, "options": {}}, 2.2
    )


def chain(*nodes: Document, **changes: Any) -> Document:
    """A workflow whose nodes follow one another in one line."""
    links = {
        a["name"]: {"main": [[{"node": b["name"], "type": "main", "index": 0}]]} for a, b in pairwise(nodes)
    }
    path = nodes[0]["parameters"]["path"]
    return {"name": path, "nodes": list(nodes), "connections": links, "settings": {}} | changes


def google(operation: str) -> Document:
    """The Google node of the simple set: no error output, nothing checked before it."""
    return deepcopy(_GOOGLE[operation])


def _google(kind: str, version: float, credential: str, name: str, parameters: Document) -> Document:
    title = f"Google {kind}"
    credentials = {f"google{kind}OAuth2Api": {"id": credential, "name": name}}
    return node(title, f"google{kind}", parameters, version, credentials=credentials)


_CALENDAR = {"__rl": True, "value": HUSBAND, "mode": "id"}
_BOOK = {
    "documentId": {"__rl": True, "value": "HUSBANDSHEET", "mode": "id"},
    "sheetName": {"__rl": True, "value": "={{ $json.body.sheet }}", "mode": "name"},
    "options": {},
}
_ROW = {name: f"={{{{ $json.body.row.{name} }}}}" for name in ("date", "item", "amount")}
_COLUMNS = [
    {
        "id": name,
        "displayName": name,
        "required": False,
        "defaultMatch": False,
        "display": True,
        "type": "string",
        "canBeUsedToMatch": True,
    }
    for name in _ROW
]
_GOOGLE = {
    "calendar_add": _google(
        "Calendar",
        1.3,
        CALENDAR_CREDENTIAL,
        "husband Google Calendar",
        {
            "calendar": _CALENDAR,
            "start": "={{ $json.body.start }}",
            "end": "={{ $json.body.end }}",
            "additionalFields": {
                "summary": "={{ $json.body.summary }}",
                "description": "={{ $json.body.category }}",
            },
        },
    ),
    "calendar_list": _google(
        "Calendar",
        1.3,
        CALENDAR_CREDENTIAL,
        "husband Google Calendar",
        {
            "operation": "getAll",
            "calendar": _CALENDAR,
            "limit": 50,
            "timeMin": "={{ $json.body.timeMin }}",
            "timeMax": "={{ $json.body.timeMax }}",
            "options": {"orderBy": "startTime"},
        },
    ),
    "tasks_add": _google(
        "Tasks",
        1,
        TASKS_CREDENTIAL,
        "husband Google Tasks",
        {
            "task": "HUSBANDLIST",
            "title": "={{ $json.body.title }}",
            "additionalFields": {"dueDate": "={{ $json.body.due }}"},
        },
    ),
    "tasks_list": _google(
        "Tasks",
        1,
        TASKS_CREDENTIAL,
        "husband Google Tasks",
        {
            "operation": "getAll",
            "task": "HUSBANDLIST",
            "limit": 50,
            "additionalFields": {"showCompleted": False},
        },
    ),
    "sheets_read": _google("Sheets", 4.7, SHEETS_CREDENTIAL, "husband Google Sheets", _BOOK),
    "sheets_append": _google(
        "Sheets",
        4.7,
        SHEETS_CREDENTIAL,
        "husband Google Sheets",
        {
            "operation": "append",
            **_BOOK,
            "columns": {"mappingMode": "defineBelow", "value": _ROW, "schema": _COLUMNS},
        },
    ),
}

_ONE = "const r = $input.first().json;\nreturn [{ json: { ok: true, op: '%s', profile: 'husband', result: r } }];"
_MANY = (
    "const items = $input.all().map(i => i.json).filter(j => Object.keys(j).length);\n"
    "return [{ json: { ok: true, op: '%s', profile: 'husband', count: items.length, items } }];"
)


def simple(operation: str, path: str, **google_changes: Any) -> Document:
    """Webhook -> Google -> Format response -> Respond: a failure of Google is a 200 without a body."""
    many = operation in ("calendar_list", "tasks_list", "sheets_read")
    script = (_MANY if many else _ONE) % operation
    changed = google(operation) | google_changes
    return chain(webhook(path), changed, code(script), respond(), settings={"timezone": "Europe/Berlin"})


SMALL: dict[str, Document] = {
    document["name"]: document
    for document in (
        chain(webhook("x/fail/afterrespond"), respond(ECHO), code(BOOM)),
        chain(webhook("x/fail/continue"), code(BOOM, onError="continueRegularOutput"), respond()),
        chain(webhook("x/fail/lastNode", "lastNode"), code(BOOM)),
        chain(webhook("x/fail/onReceived", "onReceived"), code(BOOM)),
        chain(webhook("x/fail/responseNode"), code(BOOM), respond()),
        chain(webhook("x/last/nodata", "lastNode", responseData="noData"), code(TWO_ITEMS)),
        chain(webhook("x/last/zeroall", "lastNode", responseData="allEntries"), code("return [];")),
        chain(webhook("x/last/zeromid", "lastNode"), code("return [];"), code(TWO_ITEMS, "Behind")),
        chain(webhook("x/last/zero", "lastNode"), code("return [];")),
        chain(webhook("x/last/all", "lastNode", responseData="allEntries"), code(TWO_ITEMS)),
        chain(webhook("x/last/ok", "lastNode"), code(TWO_ITEMS)),
        chain(webhook("x/onreceived", "onReceived"), code(TWO_ITEMS)),
        chain(webhook("x/resp/all"), code(TWO_ITEMS), respond(with_="allIncomingItems")),
        chain(webhook("x/resp/500"), respond('{"ok":false,"error":"x"}', responseCode=502)),
        chain(webhook("x/resp/first"), respond(with_="firstIncomingItem")),
        chain(webhook("x/resp/badjson"), respond("={{ '{not json' }}")),
        chain(webhook("x/resp/nodata"), respond(with_="noData")),
        chain(webhook("x/resp/text"), respond("hello", with_="text")),
        chain(webhook("x/respunused", "onReceived"), respond()),
        chain(webhook("x/noreach/none"), code(TWO_ITEMS)),
        chain(webhook("x/noreach/if"), if_false(), respond()),
        chain(webhook("x/noreach/zero"), code("return [];"), respond()),
    )
}
"""Path -> the workflow behind it."""
