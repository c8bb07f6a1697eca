"""One fault in a healthy turn of every operation: the judge names the first broken link, and no other."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from turns import (
    OTHER_ID,
    Bundle,
    Turn,
    answer_with,
    arguments,
    bundle,
    call_message,
    drop,
    exchange,
    nothing_stored,
    of,
    readback,
    say,
    stored,
)

from butlerctl.evidence import bundle_of
from butlerctl.inventory.operations import OPERATIONS
from butlerctl.judge import judge
from butlerctl.judge.result import ChainVerdict

WRITES = tuple(name for name, operation in OPERATIONS.items() if operation.writes)
READS = tuple(name for name, operation in OPERATIONS.items() if not operation.writes)
ALL = tuple(OPERATIONS)
ADMITS = "Leider hat das nicht geklappt."
LIES = "Alles erledigt!"


class Fault(NamedTuple):
    break_it: Callable[[Bundle, Turn], None]
    check: str
    turn: str | None = None
    on: tuple[str, ...] = ALL
    claim: str | None = None


def no_call(reply: str) -> Callable[[Bundle, Turn], None]:
    def break_it(document: Bundle, turn: Turn) -> None:
        drop(document, "exchange", "execution")
        messages = of(document, "transcript")["messages"]
        messages[1:] = [{"role": "assistant", "content": reply}]
        if OPERATIONS[turn.operation].writes:
            nothing_stored(document, turn)

    return break_it


def never_sent(document: Bundle, turn: Turn) -> None:
    drop(document, "exchange", "execution")
    if OPERATIONS[turn.operation].writes:
        nothing_stored(document, turn)


def call_with(
    given: Callable[[Turn], dict[str, Any] | str], name: str = ""
) -> Callable[[Bundle, Turn], None]:
    def break_it(document: Bundle, turn: Turn) -> None:
        never_sent(document, turn)
        messages = of(document, "transcript")["messages"]
        messages[1] = call_message(name or OPERATIONS[turn.operation].tool, given(turn))
        messages[2]["content"] = '{"error": "refused"}'
        say(document, ADMITS)

    return break_it


def answered(
    status: int | None,
    body: Any,
    *,
    stored_all_the_same: bool = False,
    error: str = "",
    headers: dict | None = None,
) -> Callable[[Bundle, Turn], None]:
    def break_it(document: Bundle, turn: Turn) -> None:
        drop(document, "execution")
        answer_with(document, status, body, headers, error)
        if OPERATIONS[turn.operation].writes and not stored_all_the_same:
            nothing_stored(document, turn)
        say(document, ADMITS)

    return break_it


def failed_with(error: dict[str, Any]) -> Callable[[Bundle, Turn], None]:
    """n8n's empty 200: only the execution names the cause."""

    def break_it(document: Bundle, turn: Turn) -> None:
        answer_with(document, 200, "")
        of(document, "execution").update(status="error", node="Google", error=error)
        if OPERATIONS[turn.operation].writes:
            nothing_stored(document, turn)
        say(document, LIES)

    return break_it


def sent_to(path: Callable[[Turn], str]) -> Callable[[Bundle, Turn], None]:
    def break_it(document: Bundle, turn: Turn) -> None:
        of(document, "exchange")["request"]["url"] = f"http://n8n.test:5678{path(turn)}"
        drop(document, "execution")

    return break_it


def in_the_other_account(document: Bundle, turn: Turn) -> None:
    own, others = (
        of(document, "readback", when="after"),
        of(document, "readback", when="after", token_of=turn.other),
    )
    own["body"], others["body"] = others["body"], own["body"]


def read_the_other_account(document: Bundle, turn: Turn) -> None:
    for when in ("before", "after"):
        mine, yours = (
            of(document, "readback", when=when, token_of=name) for name in (turn.profile, turn.other)
        )
        yours["body"] = mine["body"]
        different = Turn(
            turn.operation, profile=turn.profile, title="Frühstück", cells=("2026-05-01", "Brot", "3.00")
        )
        mine["body"] = readback(different, turn.profile, when, [stored(different, OTHER_ID)])["body"]


def twice(document: Bundle, turn: Turn) -> None:
    body = of(document, "readback", when="after")["body"]
    (body.get("items") if "items" in body else body["values"]).append(stored(turn, OTHER_ID))


def called_twice(document: Bundle, turn: Turn) -> None:
    twice(document, turn)
    messages = of(document, "transcript")["messages"]
    again, said = copy.deepcopy(messages[1]), copy.deepcopy(messages[2])
    again["tool_calls"][0]["id"] = said["tool_call_id"] = "c2"
    other = {"ok": True, "data": {"id": OTHER_ID, "updatedRange": "Log!A3:C3"}}
    said["content"] = json.dumps(other)
    messages[3:3] = [again, said]
    second = copy.deepcopy(of(document, "exchange"))
    second |= {"tool_call_id": "c2"}
    second["response"]["body"] = other
    document["evidence"].insert(4, second)


def at_another_time(document: Bundle, turn: Turn) -> None:
    item = of(document, "readback", when="after")["body"]["items"][0]
    if turn.operation == "calendar_add":
        item["start"]["dateTime"] = item["start"]["dateTime"].replace("+02:00", "Z")
    else:
        item["due"] = "2026-05-11T00:00:00.000Z"


def without_an_offset(document: Bundle, turn: Turn) -> None:
    at_another_time(document, turn)
    function = of(document, "transcript")["messages"][1]["tool_calls"][0]["function"]
    function["arguments"] = function["arguments"].replace("+02:00", "")
    body = of(document, "exchange")["request"]["body"]
    body |= {key: body[key].replace("+02:00", "") for key in ("start", "end")}


def in_other_columns(document: Bundle, turn: Turn) -> None:
    rows = of(document, "readback", when="after")["body"]["values"]
    rows[1] = ["", "", *turn.cells]


def body_without_a_field(document: Bundle, turn: Turn) -> None:
    sent = of(document, "exchange")["request"]["body"]
    sent.pop(next(key for key in arguments(turn)))


def webhook_inactive(document: Bundle, turn: Turn) -> None:
    message = {
        "code": 404,
        "message": f'The requested webhook "POST {turn.route.webhook_path("haus")}" is not registered.',
    }
    answered(404, message)(document, turn)
    name = of(document, "transcript") and f"haus {turn.operation.replace('_', ' ')} {turn.profile}"
    document["evidence"].insert(
        0, {"kind": "workflow_live", "document": {"id": "w", "name": name, "active": False}}
    )


def unlike_what_is_there(document: Bundle, turn: Turn) -> None:
    for when in ("before", "after"):
        own = of(document, "readback", when=when)
        more = Turn(turn.operation, title="Etwas anderes", cells=("2026-05-02", "Salz", "0.90"))
        rows = own["body"].get("items", own["body"].get("values"))
        rows.append(stored(more, OTHER_ID))


def reply(text: str) -> Callable[[Bundle, Turn], None]:
    return lambda document, _turn: say(document, text)


PAGE = "<!doctype html><html><body>Sign in</body></html>"
FAULTS: dict[str, Fault] = {
    "narrated": Fault(no_call(LIES), "call.toolcall_structured", "narrated", claim="unsupported"),
    "narrated in no known language": Fault(no_call("Valmis!"), "call.toolcall_structured", "narrated"),
    "declined": Fault(no_call("Lo siento, no puedo hacerlo."), "call.toolcall_structured", "not_done", claim="supported"),
    "asked back": Fault(no_call("À quelle heure ?"), "call.toolcall_structured", "not_done", claim="none"),
    "promised": Fault(no_call("Zaraz to dodam."), "call.toolcall_structured", None, claim="none"),
    "harmony": Fault(no_call("<|channel|>commentary to=functions.add_task <|message|>{}"), "call.toolcall_structured", "narrated"),
    "convention line": Fault(no_call("TASK: Zahnarzt | 2026-05-12"), "call.toolcall_structured", "narrated"),
    "prefixed name": Fault(call_with(lambda t: {"profile": t.profile}, "functions.add_task"), "call.tool_name", None, ("tasks_add",)),
    "cut arguments": Fault(call_with(lambda _: '{"profile": "an'), "call.args_json", "wrong_call"),
    "two objects": Fault(call_with(lambda _: '{"profile": "anna"}{}'), "call.args_json", "wrong_call"),
    "wrong person": Fault(call_with(lambda t: {"profile": t.other, **arguments(t)}), "call.args_match", "wrong_call"),
    "invented person": Fault(call_with(lambda t: {"profile": "Anna", **arguments(t)}), "call.args_match", "wrong_call"),
    "wrong year": Fault(call_with(lambda t: {"profile": t.profile, **json.loads(json.dumps(arguments(t)).replace("2026", "2025"))}), "call.args_match", "wrong_call", ("calendar_add", "calendar_list", "tasks_add", "sheets_append")),
    "time without an offset": Fault(without_an_offset, "call.args_match", "mismatched", ("calendar_add",)),
    "called twice": Fault(called_twice, "call.no_duplicate_calls", "duplicated", WRITES),
    "other person's path": Fault(sent_to(lambda t: f"/webhook/{t.route.webhook_path('haus').replace(t.profile, t.other)}"), "route.path"),
    "other operation's path": Fault(sent_to(lambda t: f"/webhook/haus/sheets/read/{t.profile}"), "route.path", None, ("tasks_add", "calendar_list")),
    "test address": Fault(sent_to(lambda t: f"/webhook-test/{t.route.webhook_path('haus')}"), "route.url_form"),
    "refused connection": Fault(answered(None, None, error="connect ECONNREFUSED 10.0.0.2:5678"), "request.reaches_n8n", "failed_honest", claim="supported"),
    "name not known": Fault(answered(None, None, error="getaddrinfo EAI_AGAIN n8n"), "request.reaches_n8n"),
    "bad gateway": Fault(answered(502, PAGE, headers={"Content-Type": "text/html"}), "request.reaches_n8n"),
    "service unavailable": Fault(answered(503, "unavailable", headers={"Content-Type": "text/plain"}), "request.reaches_n8n"),
    "sign-in page": Fault(answered(200, PAGE, headers={"Content-Type": "text/html"}), "request.reaches_n8n"),
    "another server": Fault(answered(404, {"detail": "Not Found"}), "request.reaches_n8n"),
    "moved": Fault(answered(308, "", headers={"Location": "https://n8n.test/"}), "request.no_redirect"),
    "client timeout": Fault(answered(None, None, error="The operation was aborted due to timeout"), "request.timeout"),
    "gateway timeout": Fault(answered(504, PAGE, headers={"Content-Type": "text/html"}), "request.timeout"),
    "timeout, but stored": Fault(answered(524, PAGE, stored_all_the_same=True), "request.timeout", "unexplained_effect", WRITES),
    "field lost on the way": Fault(body_without_a_field, "request.args_carried", None, ("calendar_add", "calendar_list", "tasks_add", "sheets_append", "sheets_read")),
    "key refused": Fault(answered(403, "Authorization data is wrong!"), "header.accepted", "failed_honest", claim="supported"),
    "address not on the list": Fault(answered(403, "IP is not whitelisted to access the webhook!"), "header.accepted"),
    "inactive": Fault(webhook_inactive, "active.registered"),
    "stale registration": Fault(answered(404, {"code": 404, "message": 'Active version not found for workflow with id "x"'}), "active.registered"),
    "grant revoked": Fault(failed_with({"httpCode": "400", "body": {"error": "invalid_grant"}}), "credential.token_valid", "false_success", claim="unsupported"),
    "to be reconnected": Fault(failed_with({"message": 'The credential "Anna" needs to be reconnected.'}), "credential.token_valid"),
    "never connected": Fault(failed_with({"message": "Unable to sign without access token"}), "credential.token_valid"),
    "credential gone": Fault(failed_with({"message": 'Credential with ID "gone1" does not exist for type "googleTasksOAuth2Api".'}), "credential.exists"),
    "undecryptable": Fault(failed_with({"message": "Credentials could not be decrypted."}), "credential.decrypts"),
    "scope missing": Fault(failed_with({"httpCode": "403", "message": "Forbidden - perhaps check your credentials?", "description": "Request had insufficient authentication scopes."}), "credential.scope"),
    "stored with the other": Fault(in_the_other_account, "credential.owner", "mismatched", WRITES, "unsupported"),
    "read from the other": Fault(read_the_other_account, "credential.owner", "mismatched", READS),
    "rate limit": Fault(failed_with({"httpCode": "429", "message": "The service is receiving too many requests from you"}), "google.accepted", "false_success"),
    "rate limit as a 403": Fault(failed_with({"httpCode": "403", "message": "Forbidden - perhaps check your credentials?", "messages": ['403 - {"reason":"rateLimitExceeded"}']}), "google.accepted"),
    "google down": Fault(failed_with({"httpCode": "503", "message": "Service unavailable - try again later"}), "google.accepted"),
    "list unknown": Fault(failed_with({"httpCode": "404", "message": "The resource you are requesting could not be found"}), "google.accepted"),
    "promised and absent": Fault(nothing_stored, "google.object_found", "refuted", WRITES, "unsupported"),
    "stored twice": Fault(twice, "google.single_copy", "duplicated", WRITES),
    "also with the other": Fault(lambda d, t: of(d, "readback", when="after", token_of=t.other).update(body=copy.deepcopy(of(d, "readback", when="after")["body"])), "google.single_copy", "duplicated", WRITES),
    "another time": Fault(at_another_time, "google.right_time", "mismatched", ("calendar_add", "tasks_add"), "unsupported"),
    "other columns": Fault(in_other_columns, "google.right_place", "mismatched", ("sheets_append",)),
    "not all that is there": Fault(unlike_what_is_there, "google.object_found", "mismatched", READS),
    "empty, but stored": Fault(answered(200, "", stored_all_the_same=True), "shape.body_present", "unexplained_effect", WRITES),
    "empty read": Fault(answered(200, ""), "shape.body_present", "failed_honest", READS, "supported"),
    "plain text, but stored": Fault(answered(200, "saved", stored_all_the_same=True, headers={"Content-Type": "text/plain"}), "shape.content_type", None, WRITES),
    "error status, but stored": Fault(answered(500, {"code": 0, "message": "Unused Respond to Webhook node found in the workflow"}, stored_all_the_same=True), "shape.status", "unexplained_effect", WRITES),
    "acknowledged only": Fault(answered(200, {"message": "Workflow was started"}, stored_all_the_same=True), "shape.fields", None, WRITES),
    "acknowledged read": Fault(answered(200, {"message": "Workflow was started"}), "shape.fields", None, READS),
    "request echoed": Fault(answered(200, [{"headers": {}, "params": {}, "query": {}, "body": {}, "webhookUrl": "x"}]), "shape.fields", None, READS),
    "error inside": Fault(answered(200, {"ok": True, "result": {"error": "Cannot read properties of undefined"}}, stored_all_the_same=True), "shape.error_field", None, WRITES),
    "denied": Fault(reply("Das hat leider nicht geklappt."), "report.claim_accurate", "confirmed", claim="unsupported"),
    "wrong time told": Fault(reply("Eingetragen für 16:45 Uhr."), "report.claim_accurate", "confirmed", ("calendar_add",), "unsupported"),
    "wrong time listed": Fault(reply("Un rendez-vous à 9h15."), "report.claim_accurate", "confirmed", ("calendar_list",), "unsupported"),
    "wrong day told": Fault(reply("Apuntado para el 13 de mayo."), "report.claim_accurate", "confirmed", ("calendar_add", "tasks_add"), "unsupported"),
    "wrong weekday told": Fault(reply("Added for Thursday."), "report.claim_accurate", "confirmed", ("calendar_add", "tasks_add")),
    "wrong amount told": Fault(reply("Registrato: 21,40."), "report.claim_accurate", "confirmed", ("sheets_append", "sheets_read")),
    "empty told": Fault(reply("Er staat niets op, de lijst is leeg."), "report.claim_accurate", "confirmed", READS, "unsupported"),
    "another person told": Fault(reply("Done, it is on bert's calendar."), "report.claim_accurate", "confirmed", ("calendar_add",), "unsupported"),
    "more told": Fault(reply("Son tres cosas."), "report.claim_accurate", "confirmed", ("calendar_list", "tasks_list")),
    "another deed told": Fault(reply("Added. I also put it on the calendar for 18:00."), "report.claim_backed", "confirmed", ("tasks_add",), "unsupported"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "operation"), [(name, operation) for name, fault in FAULTS.items() for operation in fault.on]
)
def test_the_fault_is_named(name, operation):
    fault, turn = FAULTS[name], Turn(operation)
    document = bundle(turn)
    fault.break_it(document, turn)
    judgement = judge(bundle_of(document))
    assert judgement.verdict is ChainVerdict.FAIL
    first = judgement.first_broken
    assert first is not None
    if name == "another deed told":
        assert first.check in {"report.claim_backed", "report.claim_accurate"}
    else:
        assert first.check == fault.check, first.hint
    assert first.link == fault.check.partition(".")[0]
    assert (first.route.operation, first.route.profile) == (operation, turn.profile)
    if fault.turn:
        assert str(judgement.turn) == fault.turn
    if fault.claim:
        assert str(judgement.claim) == fault.claim


@pytest.mark.parametrize("operation", ALL)
def test_the_second_operation_of_a_turn_is_judged_as_well(operation):
    turn = Turn(operation)
    document = bundle(turn)
    transcript = of(document, "transcript")
    extra = call_message("add_task", {"profile": turn.profile, "title": "Blumen gießen"}, "c9")
    transcript["messages"][1]["tool_calls"] += extra["tool_calls"]
    refused = {"code": 404, "message": 'The requested webhook "POST haus/tasks/add/anna" is not registered.'}
    transcript["messages"].insert(
        3, {"role": "tool", "tool_call_id": "c9", "content": json.dumps({"ok": False, "data": refused})}
    )
    document["evidence"].append(
        exchange("/webhook/haus/tasks/add/anna", {"title": "Blumen gießen"}, 404, refused, tool_call_id="c9")
    )
    first = judge(bundle_of(document)).first_broken
    assert first is not None
    assert (first.check, str(first.route)) == ("active.registered", "tasks_add/anna")
