"""What a live run collects for one route: nine links proven, and not one of them without its own evidence."""

from __future__ import annotations

from typing import Any

import pytest
from turns import Turn, bundle, drop, exchange, of, stored

from butlerctl.evidence import bundle_of
from butlerctl.inventory.operations import OPERATIONS
from butlerctl.judge import judge, strict_verdict
from butlerctl.judge.result import ChainVerdict, Verdict

DIGEST = "5f" * 32
ALL = tuple(OPERATIONS)


def live(turn: Turn) -> dict[str, Any]:
    """The healthy turn without the plugin's exchange, with export, live state, probes and n8n's own record."""
    document = bundle(turn)
    sent = of(document, "exchange")["request"]["body"]
    operation = OPERATIONS[turn.operation]
    path, name = turn.route.webhook_path("haus"), f"haus {operation.domain} {operation.verb} {turn.profile}"
    drop(document, "exchange", "execution")
    workflow = {"name": name, "active": True, "versionId": "v2", "activeVersionId": "v2"}
    refused = {"code": "invalid_args", "message": "input refused"}
    answering = (
        (400, {"ok": False, "error": refused})
        if operation.writes
        else (200, {"ok": True, "data": {"items": []}})
    )
    run_data = {
        "Webhook": [
            _ran({"headers": {}, "body": sent, "webhookUrl": f"http://n8n.test:5678/webhook/{path}"})
        ],
        "Google": [_ran(stored(turn) if isinstance(stored(turn), dict) else {"row_number": 2})],
    }
    first = [
        {"kind": "workflow_export", "file": turn.route.workflow_file, "document": workflow, "digest": DIGEST},
        {"kind": "workflow_live", "document": workflow, "digest_saved": DIGEST, "digest_published": DIGEST},
        _probe(f"/webhook/{path}", "without_key", 403, "Authorization data is wrong!"),
        _probe(f"/webhook/{path}", "answering", *answering),
    ]
    document["evidence"] = first + document["evidence"]
    document["evidence"].insert(
        -2,
        {
            "kind": "execution",
            "id": "41",
            "workflow": name,
            "status": "success",
            "data": {"resultData": {"runData": run_data}},
        },
    )
    return document  # fmt: skip


def _ran(item: dict[str, Any]) -> dict[str, Any]:
    return {"executionStatus": "success", "data": {"main": [[{"json": item}]]}}


def _probe(path: str, name: str, status: int, answer: Any) -> dict[str, Any]:
    probe = exchange(path, {"butlerctl": "probe"}, status, answer, probe=name, seen_by="probe")
    if name == "without_key":
        del probe["request"]["headers"]["X-Haus-Auth"]
    return probe


def verdict_of(document: dict[str, Any]) -> tuple[str, set[str]]:
    judgement = judge(bundle_of(document))
    open_links = {link.link for link in judgement.links if link.verdict is not Verdict.PROVEN}
    return str(strict_verdict(judgement)), open_links


@pytest.mark.parametrize("operation", ALL)
def test_a_healthy_live_run_proves_all_nine_links(operation):
    assert verdict_of(live(Turn(operation))) == ("PASS", set())


@pytest.mark.parametrize("operation", ALL)
@pytest.mark.parametrize(
    ("kind", "fields", "opened"),
    [
        ("workflow_export", {}, {"active"}),
        ("workflow_live", {}, {"active"}),
        ("exchange", {"probe": "without_key"}, {"header"}),
        ("execution", {}, {"route", "request", "credential"}),
        ("transcript", {}, {"call", "report"}),
        ("readback", {"when": "after", "token_of": "anna"}, {"google", "report"}),
    ],
)
def test_without_its_evidence_a_link_is_not_proven(operation, kind, fields, opened):
    document = live(Turn(operation))
    gone = of(document, kind, **fields)
    document["evidence"] = [item for item in document["evidence"] if item is not gone]
    verdict, open_links = verdict_of(document)
    assert verdict == "UNKNOWN"
    assert opened <= open_links


@pytest.mark.parametrize("operation", ALL)
def test_a_break_is_a_break_however_much_is_proven(operation):
    document = live(Turn(operation))
    of(document, "workflow_live")["digest_published"] = "00" * 32
    judgement = judge(bundle_of(document))
    assert strict_verdict(judgement) is ChainVerdict.FAIL
    assert judgement.first_broken is not None
    assert judgement.first_broken.check == "active.published_version"


@pytest.mark.parametrize(
    ("digest", "advice"),
    [
        ("digest_saved", "What is served is right: do not publish what is saved."),
        ("digest_published", "Publish the saved version."),
    ],
)
def test_the_advice_never_leads_to_the_wrong_version(digest, advice):
    document = live(Turn("tasks_list"))
    of(document, "workflow_live")[digest] = "00" * 32
    assert judge(bundle_of(document)).first_broken.next_step.startswith(advice)


@pytest.mark.parametrize(
    ("ran", "broken"),
    [
        ({"workflow_id": "w", "version_id": "v0"}, "active.executed_version"),
        ({"workflow_id": "w", "version_id": "v0", "mode": "webhook"}, "active.executed_version"),
        # what a person tries in the editor, or runs again there
        ({"workflow_id": "w", "version_id": "v0", "mode": "manual"}, None),
        ({"workflow_id": "w", "version_id": "v0", "mode": "retry"}, None),
        ({"workflow_id": "w", "version_id": "v2"}, None),
        ({"workflow_id": "w", "version_id": "v3"}, None),  # saved: n8n up to 2.30 names it whatever ran
        ({"workflow_id": "w", "version_id": None}, None),
        ({}, None),
    ],
)
def test_a_version_that_n8n_neither_publishes_nor_holds_saved_did_not_run_by_right(ran, broken):
    document = live(Turn("tasks_add"))
    shown = {"id": "w", "versionId": "v3", "activeVersionId": "v2"}
    of(document, "workflow_live")["document"] = of(document, "workflow_live")["document"] | shown
    of(document, "execution").update(ran)
    first = judge(bundle_of(document)).first_broken
    assert (first and first.check) == broken


def test_branches_that_run_in_another_order_are_named():
    document = live(Turn("tasks_list"))
    heights = {"first": 0, "second": 9}
    behind = [[{"node": name, "type": "main", "index": 0} for name in heights]]
    for kind, height in (("workflow_export", 0), ("workflow_live", 20)):
        of(document, kind)["document"] = of(document, kind)["document"] | {
            "settings": {"executionOrder": "v1"},
            "connections": {"Webhook": {"main": behind}},
            "nodes": [
                {"name": name, "type": "t", "position": [0, abs(at - height)]} for name, at in heights.items()
            ],
        }
    of(document, "workflow_live").update(digest_saved="00" * 32, digest_published="00" * 32)
    assert judge(bundle_of(document)).first_broken.seen.endswith(
        "differs from the export in the order of the branches"
    )


def test_two_empty_lists_do_not_tell_whose_account_answered():
    document = live(Turn("tasks_list"))
    for item in document["evidence"]:
        if item["kind"] == "readback":
            item["body"]["items"] = []
    message = of(document, "transcript")["messages"]
    message[2]["content"] = (
        '{"ok": true, "data": {"ok": true, "data": {"count": 0, "items": []}, "execution": "41"}}'
    )
    message[-1]["content"] = "The list is empty."
    assert verdict_of(document) == ("UNKNOWN", {"credential"})
    named = {"name": "Google", "type": "n8n-nodes-base.googleTasks", "parameters": {"task": "list-anna"}}
    of(document, "workflow_live")["document"]["nodes"] = [named]
    assert verdict_of(document) == ("PASS", set())


def test_the_verdict_of_a_live_run_names_what_it_rests_on():
    judgement = judge(bundle_of(live(Turn())))
    assert all(
        link.rests_on and all(len(digest) == 64 for digest in link.rests_on) for link in judgement.links
    )
