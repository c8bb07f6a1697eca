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
