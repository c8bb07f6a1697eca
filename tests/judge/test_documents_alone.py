"""Without a request only what documents show is judged: files, deployments, probes, keys, clean-up, the plugin."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from bundle_cases import load

from butlerctl.evidence import bundle_of
from butlerctl.judge import judge

FILES = load("green-d13-twelve-clean-files").bundle["evidence"]
LIST = "/webhook/haus/tasks/list/anna"
NOT_REGISTERED = {
    "code": 404,
    "message": 'The requested webhook "POST haus/tasks/list/anna" is not registered.',
}
EVENT = {
    "id": "e1",
    "status": "confirmed",
    "summary": "test",
    "start": {"dateTime": "2026-07-14T10:00:00-04:00"},
}


def outcome(evidence: list[dict[str, Any]], intent: dict[str, Any] | None = None) -> str:
    """The check of the first break, else the check of a note that leaves it open, else the verdict."""
    document = {
        "bundle": 1,
        "clock": "2026-07-08T09:00:00Z",
        "timezone": "UTC",
        "intent": intent,
        "evidence": evidence,
    }
    judgement = judge(bundle_of(document))
    if judgement.first_broken:
        return judgement.first_broken.check
    open_notes = [note.check for note in judgement.notes]
    return open_notes[0] if open_notes else str(judgement.verdict)


def edited(change, file: str = "tasks_add_wife.json") -> list[dict[str, Any]]:
    files = copy.deepcopy(FILES)
    for item in files:
        if item.get("file") == file:
            change({node["type"].rpartition(".")[2]: node for node in item["document"]["nodes"]})
    return files


def credential(**fields):
    return edited(lambda nodes: next(iter(nodes["googleTasks"]["credentials"].values())).update(fields))


def probe(path: str, status: int, body: Any, key: str | None = "<redacted>", **more: Any) -> dict[str, Any]:
    headers = {"X-Haus-Auth": key} if key else {}
    request = {"method": "POST", "url": f"http://n8n.test{path}", "headers": headers, "body": {}}
    return {"kind": "exchange", "seen_by": "probe", "request": request, "response": {"status": status, "headers": {}, "body": body}, **more}  # fmt: skip


def api(method: str, path: str, status: int, body: Any) -> dict[str, Any]:
    request = {
        "method": method,
        "url": f"http://n8n.test{path}",
        "headers": {"X-N8N-API-KEY": "k"},
        "body": {},
    }
    return {"kind": "exchange", "seen_by": "operator", "request": request, "response": {"status": status, "headers": {}, "body": body}}  # fmt: skip


def read(call: str, status: int, body: Any, when: str = "after_delete", **more: Any) -> dict[str, Any]:
    return {"kind": "readback", "when": when, "api": call, "token_of": "anna", "calendarId": "c", "status": status, "body": body, **more}  # fmt: skip


def settings(**values: Any) -> dict[str, Any]:
    return {"kind": "settings", "scope": "n8n", "values": values}


DELETED = read("calendar.events.delete", 204, None, eventId="e1")
MISMATCH = "Error: Mismatching encryption keys. The encryption key in the settings file does not match."
CASES = {
    "twelve clean files": (FILES, "PASS"),
    "placeholder as a credential": (credential(id="<WIFE_TASKS_CRED_ID>"), "lint.placeholder"),
    "placeholder as a place": (edited(lambda nodes: nodes["googleTasks"]["parameters"].update(task="<WIFE_LIST_ID>")), "lint.placeholder"),
    "placeholder left bare": ([{"kind": "workflow_export", "file": "x.json", "text": '{"id": <WIFE_TASKS_CRED_ID>}'}], "lint.placeholder"),
    "file that is no JSON": ([{"kind": "workflow_export", "file": "x.json", "text": "{"}], "lint.bw001"),
    "failure answered as a success": (edited(lambda nodes: nodes["googleTasks"].update(onError="continueRegularOutput")), "lint.on_error"),
    "bots ignored": (edited(lambda nodes: nodes["webhook"]["parameters"].update(options={"ignoreBots": True})), "lint.ignore_bots"),
    "environment read": (edited(lambda nodes: nodes["googleTasks"]["parameters"].update(task="={{ $env.LIST }}")), "lint.env_access"),
    "empty list unanswered": (edited(lambda nodes: nodes["googleCalendar"].pop("alwaysOutputData"), "calendar_list_wife.json"), "lint.always_output"),
    "other person's credential": (credential(id="cred2c51e07db1bb", name="Google tasks (husband)"), "lint.profile"),
    "respond node unused": (edited(lambda nodes: nodes["webhook"]["parameters"].update(responseMode="onReceived")), "lint.response_mode"),
    "no webhook id": (edited(lambda nodes: nodes["webhook"].pop("webhookId")), "lint.webhook_id"),
    "open webhook": (edited(lambda nodes: nodes["webhook"]["parameters"].update(authentication="none")), "header.negative_probe"),
    "credential not in n8n": (credential(id="credGONE00000001"), "credential.exists"),
    "credential of another type": (credential(id="credfeaf917392ce"), "credential.type"),
    "key unset": ([settings(N8N_ENCRYPTION_KEY=None)], "credential.key_pinned"),
    "key in a file": ([settings(N8N_ENCRYPTION_KEY=None, N8N_ENCRYPTION_KEY_FILE="/run/key")], "PASS"),
    "key set": ([settings(N8N_ENCRYPTION_KEY="<redacted>")], "PASS"),
    "two keys": ([settings(N8N_ENCRYPTION_KEY="one-1"), settings(N8N_ENCRYPTION_KEY="two-2")], "credential.key_pinned"),
    "keys that differ by the log": ([{"kind": "log", "source": "n8n", "lines": [MISMATCH]}], "credential.key_pinned"),
    "deleted and gone": ([DELETED, read("calendar.events.get", 404, {}, eventId="e1")], "PASS"),
    "deleted and cancelled": ([DELETED, read("calendar.events.list", 200, {"items": [{**EVENT, "status": "cancelled"}]})], "PASS"),
    "deleted and still there": ([DELETED, read("calendar.events.list", 200, {"items": [EVENT]})], "cleanup.deleted"),
    "deletion refused": ([read("calendar.events.delete", 403, {}, eventId="e1")], "cleanup.deleted"),
    "a second one left": ([read("calendar.events.list", 200, {"items": [EVENT]}, "after"), DELETED, read("calendar.events.list", 200, {"items": [{**EVENT, "id": "e2"}]})], "cleanup.leftover"),
    "update refused": ([api("PUT", "/api/v1/workflows/w", 400, {"message": "request/body must NOT have additional properties"})], "deploy.update"),
    "activation refused": ([api("POST", "/api/v1/workflows/w/activate", 400, {"message": "Cannot publish"})], "deploy.activated"),
    "activation without effect": ([api("POST", "/api/v1/workflows/w/activate", 200, {"active": False})], "deploy.activated"),
    "activation at the second try": ([api("POST", "/api/v1/workflows/w/activate", 409, {}), api("POST", "/api/v1/workflows/w/activate", 200, {"active": True})], "PASS"),
    "execution pruned": ([api("GET", "/api/v1/executions/7", 404, {})], "report.history"),
    "execution not listed any more": ([{"kind": "report", "document": {"execution_id": "7"}}, api("GET", "/api/v1/executions?limit=1", 200, {"data": []})], "report.history"),
    "own API key refused": ([api("GET", "/api/v1/workflows", 401, {})], "harness.n8n_api"),
    "own Google token refused": ([read("calendar.events.list", 401, {}, "after")], "harness.reader_token"),
    "own read failed": ([read("calendar.events.list", 500, {}, "after")], "harness.readback"),
    "header credential missing": ([probe(LIST, 500, "No authentication data defined on node!")], "header.accepted"),
    "let in with a wrong key": ([probe(LIST, 200, {"ok": True, "tasks": []}, "<wrong>")], "header.negative_probe"),
    "refused without a key": ([probe(LIST, 200, {"ok": True, "tasks": []}), probe(LIST, 403, "Authorization data is wrong!", None)], "PASS"),
    "double slash": ([probe(f"/{LIST}", 404, NOT_REGISTERED)], "route.url_form"),
    "doubled prefix": ([probe(f"/webhook{LIST}", 404, NOT_REGISTERED)], "route.url_form"),
    "address of the API": ([probe(LIST.replace("webhook", "api/v1"), 404, {"message": "not found"})], "route.url_form"),
    "other method": ([probe(LIST, 404, {"code": 404, "message": "This webhook is not registered for POST requests."})], "active.registered"),
    "now known, now not": ([probe(LIST, 200, {"ok": True, "tasks": []}), probe(LIST, 404, NOT_REGISTERED), probe(LIST, 200, {"ok": True, "tasks": []})], "active.registered"),
    "known after a while": ([probe(LIST, 404, NOT_REGISTERED), probe(LIST, 200, {"ok": True, "tasks": []})], "PASS"),
    "served although off": ([{"kind": "workflow_live", "document": {"id": "w", "name": "haus tasks list anna", "active": False}}, probe(LIST, 200, {"ok": True, "tasks": []})], "active.registered"),
    "execution failed at the formatter": ([{"kind": "execution", "workflow": "haus tasks list anna", "status": "error", "node": "Format response", "error": {"message": "boom"}}], "shape.status"),
    "event stream refused": ([{**probe("/sse", 405, ""), "request": {"method": "GET", "url": "http://x/sse", "headers": {}}}], "call.transport"),
    "tools registered": ([{"kind": "plugin_inspect", "document": {"status": "loaded", "tools": [{"names": ["add_task"]}], "diagnostics": []}}], "PASS"),
    "tool declared and not registered": ([{"kind": "plugin_manifest", "document": {"contracts": {"tools": ["add_task", "list_tasks"]}}}, {"kind": "plugin_inspect", "document": {"status": "loaded", "tools": ["add_task"]}}], "call.tools_visible"),
    "nothing declared": ([{"kind": "plugin_manifest", "document": {"id": "x"}}], "call.tools_visible"),
    "no documents": ([], "UNKNOWN"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_documents_show_what_they_show(name):
    evidence, expected = CASES[name]
    assert outcome(evidence) == expected


def test_a_row_that_is_still_there_after_its_deletion_is_named():
    values = [["date", "item"], ["2026-07-08", "BTLR-ABCDEFGHJK"]]
    body = {"range": "Log!A1:B9", "values": values}
    left = {"kind": "readback", "when": "after_delete", "api": "sheets.values.get", "token_of": "anna", "spreadsheetId": "s", "status": 200, "body": body}  # fmt: skip
    intent = {"operation": "sheets_append", "profile": "anna", "arguments": {"values": values[1]}}
    assert outcome([left], intent) == "cleanup.deleted"


def test_no_key_is_ever_shown():
    document = {"bundle": 1, "intent": None, "evidence": [settings(N8N_ENCRYPTION_KEY="s3cr3t-key-one"), settings(N8N_ENCRYPTION_KEY="s3cr3t-key-two")]}  # fmt: skip
    assert "s3cr3t" not in repr(judge(bundle_of(document)))
