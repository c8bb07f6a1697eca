"""What an execution ran beside a version: a default that n8n filled in is no difference, everything else is."""

from __future__ import annotations

from copy import deepcopy

import pytest

from butlerctl.inventory.operations import Route
from butlerctl.judge.ran import contradictions
from butlerctl.redaction import MASK
from butlerctl.workflows.template import SHIPPED, workflow

ROUTES = dict(SHIPPED.routes)
ADD = Route("calendar_add", "husband")


@pytest.fixture
def version():
    return workflow(ADD, ROUTES[ADD], SHIPPED)


def nodes_of(document):
    return {node["name"]: node for node in document["nodes"]}


def as_n8n_ran_it(version):
    """With what n8n 2.30.8 filled in of these nodes."""
    ran = {part: deepcopy(version[part]) for part in ("nodes", "connections")}
    nodes = nodes_of(ran)
    nodes["Webhook"]["parameters"] |= {"multipleMethods": False, "webhookNotice": ""}
    nodes["Check input"]["parameters"] |= {
        "mode": "runOnceForAllItems",
        "language": "javaScript",
        "notice": "",
    }
    nodes["Google Calendar"]["parameters"] |= {"resource": "event", "useDefaultReminders": True}
    return ran


def test_defaults_that_were_filled_in_are_no_difference(version):
    assert contradictions(as_n8n_ran_it(version), version) == ()


def test_a_parameter_that_the_editor_hides_is_not_with_what_ran(version):
    ran = as_n8n_ran_it(version)
    nodes_of(version)["Webhook"]["parameters"]["hidden"] = "of another mode"
    assert contradictions(ran, version) == ()


def test_moving_a_node_or_giving_it_another_id_changes_nothing(version):
    ran = as_n8n_ran_it(version)
    nodes_of(ran)["Check input"] |= {"position": [7, 7], "id": "another"}
    assert contradictions(ran, version) == ()


def drop_formatter(document):
    document["nodes"].remove(nodes_of(document)["Format response"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda ran: nodes_of(ran)["Check input"]["parameters"].update(jsCode="return []"), ("Check input",)),
        (lambda ran: nodes_of(ran)["Webhook"]["parameters"].update(path="elsewhere"), ("Webhook",)),
        (lambda ran: nodes_of(ran)["Google Calendar"].update(disabled=True), ("Google Calendar",)),
        (lambda ran: nodes_of(ran)["Google Calendar"].update(typeVersion=9), ("Google Calendar",)),
        (
            lambda ran: nodes_of(ran)["Google Calendar"].update(
                credentials={"googleCalendarOAuth2Api": {"id": "x"}}
            ),
            ("Google Calendar",),
        ),
        (
            lambda ran: nodes_of(ran)["Google Calendar"]["parameters"]["calendar"].update(value="hers"),
            ("Google Calendar",),
        ),
        (lambda ran: nodes_of(ran)["Respond ok"].update(name="Respond"), ("Respond ok", "Respond")),
        (drop_formatter, ("Format response",)),
        (lambda ran: ran["connections"].pop("Webhook"), ("connections",)),
    ],
)
def test_what_differs_is_named(change, told, version):
    ran = as_n8n_ran_it(version)
    change(ran)
    assert contradictions(ran, version) == told


def test_what_is_masked_cannot_be_compared(version):
    ran = as_n8n_ran_it(version)
    nodes_of(ran)["Check input"]["parameters"]["jsCode"] = f"const key = '{MASK}'"
    assert contradictions(ran, version) == ()


def google_of(document):
    return nodes_of(document)["Google Calendar"]


@pytest.mark.parametrize(
    ("published", "stored"),
    [
        (None, "the default"),
        ("=create", "create"),
        ("==create", "create"),
        ([], {}),
        ("={{ $json.fields }}", {}),
        ([None], [{}]),
        ({"values": [{"name": "a", "value": None}]}, {"values": [{"name": "a", "value": ""}]}),
        (1, 1.0),
        (5, MASK),
        ({"secret": True}, {"secret": MASK}),
        ({"__rl": True, "value": "a", "mode": "list", "cachedResultName": "A"}, {"__rl": True, "value": "a", "mode": "list"}),
    ],
)  # fmt: skip
def test_what_n8n_writes_in_another_way_before_it_runs_is_no_difference(published, stored, version):
    ran = as_n8n_ran_it(version)
    google_of(version)["parameters"]["field"] = published
    google_of(ran)["parameters"]["field"] = stored
    assert contradictions(ran, version) == ()


@pytest.mark.parametrize(
    ("published", "stored"),
    [(["a"], ["a", "b"]), (["a"], []), ("a", ["a"]), ({"value": "a"}, "a"), (1, 2), (1, "1"), (True, False), ("", "a")],
)  # fmt: skip
def test_another_value_of_a_parameter_is_one(published, stored, version):
    ran = as_n8n_ran_it(version)
    google_of(version)["parameters"]["field"] = published
    google_of(ran)["parameters"]["field"] = stored
    assert contradictions(ran, version) == ("Google Calendar",)


def test_a_note_never_runs(version):
    ran = as_n8n_ran_it(version)
    note = {"name": "Note", "type": "n8n-nodes-base.stickyNote", "parameters": {"content": "read me"}}
    version["nodes"].append(note)
    assert contradictions(ran, version) == ()
    ran["nodes"].append({**note, "parameters": {"content": "read me not"}})
    assert contradictions(ran, version) == ()


@pytest.mark.parametrize(
    ("switch", "is_on"),
    [
        ("disabled", True),
        ("executeOnce", True),
        ("retryOnFail", True),
        ("alwaysOutputData", True),
        ("disabled", False),
        ("rewireOutputLogTo", "ai_tool"),
        ("notes", "somebody's"),
        ("webhookId", "of-nobody"),
    ],
)
def test_a_switch_that_is_on_in_one_alone_is_a_difference_and_what_switches_nothing_is_none(
    switch, is_on, version
):
    ran = as_n8n_ran_it(version)
    nodes_of(ran)["Respond ok"][switch] = is_on
    told = ("Respond ok",) if is_on is True else ()
    assert (contradictions(ran, version), contradictions(version, ran)) == (told, told)


def test_a_credential_under_another_name_is_the_same_and_none_is_not(version):
    ran = as_n8n_ran_it(version)
    for credential in google_of(ran)["credentials"].values():
        credential["name"] = "renamed"
    assert contradictions(ran, version) == ()
    del google_of(ran)["credentials"]
    assert contradictions(ran, version) == ("Google Calendar",)


def test_of_nodes_that_share_a_name_nothing_is_said(version):
    version["nodes"] += [
        {"name": "Twin", "type": "n8n-nodes-base.noOp", "parameters": {"at": at}} for at in "ab"
    ]
    ran = as_n8n_ran_it(version)
    ran["nodes"][-1]["parameters"] = {"at": "b", "aDefault": 1}
    ran["nodes"][-2]["parameters"] = {"at": "c", "zDefault": 1}
    assert contradictions(ran, version) == ()


def test_a_masked_name_is_compared_neither_as_node_nor_in_connections(version):
    ran = as_n8n_ran_it(version)
    nodes_of(ran)["Check input"]["name"] = f"Check {MASK}"
    ran["connections"]["Webhook"]["main"][0][0]["node"] = f"Check {MASK}"
    assert contradictions(ran, version) == ()
    nodes_of(ran)["Respond ok"]["disabled"] = True
    assert contradictions(ran, version) == ("Respond ok",)


def test_connections_that_are_not_told_are_no_difference(version):
    ran = as_n8n_ran_it(version)
    assert contradictions({"nodes": ran["nodes"], "connections": None}, version) == ()
    assert contradictions({"nodes": ran["nodes"], "connections": {}}, version) == ("connections",)


@pytest.mark.parametrize("depth", [100, 400, 900, 5000])
def test_what_is_nested_too_deep_cannot_be_compared_and_is_no_error(depth, version):
    ran = as_n8n_ran_it(version)
    for document in (ran, version):
        value: object = "end"
        for _ in range(depth):
            value = {"in": [value]}
        google_of(document)["parameters"]["field"] = value
    assert contradictions(ran, version) == ()


@pytest.mark.parametrize("ran", [None, "text", [], {}, {"nodes": []}, {"nodes": None}, {"nodes": "all"}])
def test_without_nodes_nothing_is_said(ran, version):
    assert contradictions(ran, version) == ()
    assert contradictions(version, ran) == ()


@pytest.mark.parametrize(
    "nodes", [[7], [None], [{"name": 3, "parameters": []}], [{"parameters": "all"}], [[]]]
)
def test_nodes_that_are_none_differ_and_are_no_error(nodes, version):
    assert contradictions({"nodes": nodes}, version)
    assert contradictions({"nodes": nodes, "connections": {}}, {"nodes": nodes, "connections": {}}) == ()
