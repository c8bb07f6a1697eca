"""What counts as a difference between two states of a workflow, and how it is called."""

from __future__ import annotations

from copy import deepcopy
from functools import reduce
from operator import getitem

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from butlerctl.deploy.difference import differences, moved
from butlerctl.workflows.canonical import DEFAULTS
from butlerctl.workflows.digest import canonical_digest
from butlerctl.workflows.template import SHIPPED, workflow
from butlerctl.workflows.walk import leaves
from tests.deploy.deploy_home import node_of
from tests.n8n.household import bound

ROUTE, PERSON = SHIPPED.routes[2]
EXPORT = bound(workflow(ROUTE, PERSON))


def changed(change):
    document = deepcopy(EXPORT)
    change(document)
    return document


def seen(change):
    return [(found.where, found.before, found.after) for found in differences(EXPORT, changed(change))]


def google(document):
    return node_of(document, ".googleCalendar")


def rename(document):
    google(document)["name"] = "Calendar"


SAME = {
    "ids": lambda document: (
        [node.update(id="other") for node in document["nodes"]] and document.update(id="other")
    ),
    "what n8n adds": lambda document: document.update(
        versionId="v",
        activeVersionId="v",
        createdAt="2026",
        updatedAt="2026",
        shared=[{"role": "workflow:owner"}],
        tags=[],
    ),
    "settings that n8n and its editor add": lambda document: document["settings"].update(
        availableInMCP=False,
        binaryMode="separate",
        callerPolicy="workflowsFromSameOwner",
        credentialResolverId="",
        errorWorkflow="DEFAULT",
        saveManualExecutions="DEFAULT",
        timeSavedMode="fixed",
    ),
    "the default of a setting": lambda document: document["settings"].update(saveDataErrorExecution="all"),
    "a corrected credential name": lambda document: next(
        iter(google(document)["credentials"].values())
    ).update(name="n"),
    "the order of the nodes": lambda document: document["nodes"].reverse(),
    "the place of the first node": lambda document: document["nodes"][0].update(position=[-500, 3]),
    "what is switched off": lambda document: google(document).update(disabled=False, notes="", executeOnce=0),
    "what the editor only shows": lambda document: google(document)["parameters"]["calendar"].update(
        cachedResultName="x"
    ),
    "the webhook's own id": lambda document: node_of(document, ".webhook").update(webhookId="other"),
}

DIFFERENT = {
    "the name": (lambda document: document.update(name="n"), [("name", EXPORT["name"], "n")]),
    "a parameter": (
        lambda document: google(document)["parameters"].update(start="={{ 1 }}"),
        [('node "Google Calendar": start', "={{ $json.args.start }}", "={{ 1 }}")],
    ),
    "a nested parameter": (
        lambda document: google(document)["parameters"]["calendar"].update(value="x"),
        [('node "Google Calendar": calendar.value', "husband@example.test", "x")],
    ),
    "a credential": (
        lambda document: next(iter(google(document)["credentials"].values())).update(id="x"),
        [('node "Google Calendar": credential: googleCalendarOAuth2Api', "Jc4hT9mKx2PqL7sA", "x")],
    ),
    "a node that is off": (
        lambda document: google(document).update(disabled=True),
        [('node "Google Calendar": disabled', None, True)],
    ),
    "a node that is gone": (
        lambda document: document["nodes"].remove(google(document)),
        [('node "Google Calendar"', "n8n-nodes-base.googleCalendar", None)],
    ),
    "a setting": (
        lambda document: document["settings"].update(executionTimeout=3),
        [("settings: executionTimeout", 12, 3)],
    ),
    "a setting that is gone": (
        lambda document: document["settings"].pop("timezone"),
        [("settings: timezone", "America/New_York", None)],
    ),
    "access for MCP": (
        lambda document: document["settings"].update(availableInMCP=True),
        [("settings: availableInMCP", None, True)],
    ),
    "nothing in a word, which is not the same as no word": (
        lambda document: google(document)["parameters"].update(options=None),
        [('node "Google Calendar": options', None, "null")],
    ),
    "a number that becomes a truth": (
        lambda document: google(document)["parameters"].update(limit=True),
        [('node "Google Calendar": limit', None, True)],
    ),
    "one connection twice": (
        lambda document: document["connections"]["Input ok?"]["main"][1].append(
            {"node": "Respond invalid args", "type": "main", "index": 0}
        ),
        [("connection", None, "Input ok? [1] -> Respond invalid args")],
    ),
    "a connection": (
        lambda document: document["connections"]["Input ok?"]["main"][1].clear(),
        [("connection", "Input ok? [1] -> Respond invalid args", None)],
    ),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_what_n8n_or_the_canvas_changes_is_no_difference(change):
    assert seen(change) == []


@pytest.mark.parametrize(("change", "expected"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_a_person_changes_is_named_as_they_know_it(change, expected):
    assert seen(change) == expected


def test_a_renamed_node_is_one_gone_one_new_and_its_connections():
    wheres = [where for where, _, _ in seen(rename)]
    assert wheres[:2] == ['node "Google Calendar"', 'node "Calendar"']


def test_moving_one_branch_above_another_is_a_difference_because_n8n_runs_the_upper_one_first():
    def swap(document):
        google(document)["position"], other = [660, 900], google(document)["position"]
        assert other != [660, 900]

    (found,) = seen(swap)
    assert found[0] == 'order of the branches behind "Input ok?"'
    assert moved(EXPORT, changed(swap)) == 1


def test_a_setting_of_a_secret_beside_its_name_is_masked():
    def add(document):
        google(document)["parameters"]["query"] = {"name": "X-L4CK3Y-Auth", "value": "plain-as-day-1234"}

    shown = str(seen(add))
    assert "plain-as-day" not in shown


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e17, 10**17, "", "a", "0", "v1"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "a.b", "id"]), inner, max_size=2)
    ),
    max_leaves=5,
)
_NAMES = st.sampled_from(["A", "B", "C", 'A" (2)', 5])
_PLACES = st.lists(st.integers(0, 2), min_size=2, max_size=2)
_NODES = st.lists(
    st.fixed_dictionaries(
        {"name": _NAMES, "type": st.sampled_from(["t", "u"]), "parameters": _JSON},
        optional={
            "position": _PLACES | _JSON,
            "credentials": st.dictionaries(st.sampled_from(["k", "l"]), _JSON, max_size=1) | _JSON,
            "disabled": _JSON,
            "onError": st.sampled_from(["stopWorkflow", "continueErrorOutput"]),
            "webhookId": _JSON,
            "id": _JSON,
        },
    )
    | _JSON,
    max_size=4,
)
_TARGETS = st.fixed_dictionaries(
    {"node": _NAMES, "index": st.sampled_from([0, 1, "0", None])}, optional={"type": st.just("main")}
)
_OUTPUTS = st.lists(st.lists(_TARGETS | _JSON, max_size=3) | _JSON, max_size=2)
_CONNECTIONS = st.dictionaries(
    st.sampled_from("ABC"), st.dictionaries(st.sampled_from(["main", "ai"]), _OUTPUTS, max_size=1) | _JSON
)
_SETTINGS = st.dictionaries(
    st.sampled_from([*DEFAULTS, "binaryMode", "timeSavedMode", "x"]),
    _JSON | st.sampled_from([*DEFAULTS.values(), "DEFAULT", "v1", "separate", "fixed"]),
    max_size=3,
)
_DOCUMENTS = st.fixed_dictionaries(
    {"name": st.text(max_size=1), "nodes": _NODES | _JSON, "connections": _CONNECTIONS | _JSON},
    optional={"settings": _SETTINGS | _JSON},
)


@st.composite
def _pairs(draw):
    """Two documents that are alike, or differ a little, or altogether."""
    one = draw(_DOCUMENTS | st.just(EXPORT))
    other = deepcopy(one)
    if isinstance(other["nodes"], list) and draw(st.booleans()):
        other["nodes"].reverse()
    places = [path for path, _ in leaves(one) if path and isinstance(path[-1], str)]
    for path in dict.fromkeys(draw(st.lists(st.sampled_from(places), max_size=2)) if places else []):
        try:
            parent = reduce(getitem, path[:-1], other)
        except (IndexError, KeyError, TypeError):
            continue  # what was there was replaced before
        if isinstance(parent, dict):
            parent[path[-1]] = draw(_JSON | _PLACES)
    return one, other if draw(st.integers(0, 4)) else draw(_DOCUMENTS)


@settings(max_examples=400, deadline=None)
@given(_pairs())
def test_there_is_no_difference_exactly_when_the_digests_are_equal(pair):
    one, other = pair
    assert (differences(one, other) == ()) is (canonical_digest(one) == canonical_digest(other))


@settings(max_examples=60, deadline=None)
@given(_pairs())
def test_a_difference_is_one_from_either_side_and_never_to_oneself(pair):
    one, other = pair
    assert differences(one, one) == ()
    there = {(found.where, str(found.before), str(found.after)) for found in differences(one, other)}
    back = {(found.where, str(found.after), str(found.before)) for found in differences(other, one)}
    assert there == back
