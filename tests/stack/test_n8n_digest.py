"""The canonical digest over round trips through the real n8n: what a person edits changes it, what n8n adds does not."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from butlerctl.workflows.canonical import canonical_form
from butlerctl.workflows.digest import canonical_digest, published_version
from butlerctl.workflows.template import SHIPPED, workflow
from tests.n8n.household import bound

pytestmark = pytest.mark.stack

EXPORTS = tuple(bound(workflow(route, person)) for route, person in SHIPPED.routes)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False, width=32)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NODE_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "notes": TEXTS,
        "notesInFlow": st.booleans(),
        "disabled": st.booleans(),
        "onError": st.sampled_from(["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]),
        "alwaysOutputData": st.booleans(),
        "executeOnce": st.booleans(),
        "retryOnFail": st.booleans(),
        "maxTries": st.integers(2, 5),
        "waitBetweenTries": st.integers(0, 5000),
        "position": st.lists(st.integers(-5000, 5000), min_size=2, max_size=2),
    },
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "executionTimeout": st.integers(1, 3600),
        "timezone": st.sampled_from(["Europe/Berlin", "America/New_York", "DEFAULT"]),
        "errorWorkflow": st.just("nobody0000000000"),
        "saveDataErrorExecution": st.sampled_from(["all", "none"]),
        "saveDataSuccessExecution": st.sampled_from(["all", "none"]),
        "saveManualExecutions": st.booleans(),
        "executionOrder": st.sampled_from(["v0", "v1"]),
    },
)


@st.composite
def workflows(draw: st.DrawFn) -> dict[str, Any]:
    """An export of the household as somebody may have edited it."""
    document = copy.deepcopy(draw(st.sampled_from(EXPORTS)))
    document["name"] = draw(st.just(document["name"]) | st.text("abc äöü→😀", min_size=1, max_size=20))
    document["settings"] |= draw(SETTINGS)
    for at in draw(st.lists(st.integers(0, len(document["nodes"]) - 1), max_size=3, unique=True)):
        node = document["nodes"][at]
        node |= draw(NODE_CHANGES)
        node["parameters"][f"edited {draw(TEXTS)}"] = draw(VALUES)
    return document


@pytest.fixture(scope="module")
def stocked(n8n_bench):
    """n8n with the credentials that the exports name, and no workflow."""
    n8n_bench.household()
    n8n_bench.empty()
    return n8n_bench


def check(bench, document):
    workflow_id = bench.n8n.workflows.create(document)
    try:
        wanted = canonical_digest(document)
        live = bench.n8n.owner.api("GET", f"workflows/{workflow_id}")
        assert canonical_digest(live) == wanted, difference(document, live)
        bench.n8n.workflows.update(workflow_id, live)
        again = bench.n8n.owner.api("GET", f"workflows/{workflow_id}")
        assert canonical_digest(again) == wanted, difference(document, again)
        bench.n8n.workflows.save(workflow_id, again)
        saved = bench.n8n.owner.api("GET", f"workflows/{workflow_id}")
        assert canonical_digest(saved) == wanted, difference(document, saved)
    finally:
        bench.n8n.workflows.remove(workflow_id)


def difference(document, live):
    """(where, sent, returned) of the first things that differ."""
    return list(differences(canonical_form(document), canonical_form(live), ""))[:5]


def differences(sent, returned, where):
    if isinstance(sent, dict) and isinstance(returned, dict):
        for key in sorted(sent.keys() | returned.keys()):
            yield from differences(sent.get(key, "absent"), returned.get(key, "absent"), f"{where}.{key}")
    elif isinstance(sent, list) and isinstance(returned, list) and len(sent) == len(returned):
        for at, (one, other) in enumerate(zip(sent, returned, strict=True)):
            yield from differences(one, other, f"{where}.{at}")
    elif (type(sent), sent) != (type(returned), returned):
        yield where, sent, returned


BUDGET = settings(
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@settings(BUDGET, max_examples=25)
@given(document=workflows())
def test_the_digest_survives_create_update_and_the_editor(stocked, document):
    check(stocked, document)


@pytest.mark.slow
@settings(BUDGET, max_examples=400)
@given(document=workflows())
def test_the_digest_survives_them_for_many_workflows(stocked, document):
    check(stocked, document)


def google(document):
    return next(node for node in document["nodes"] if node["type"].endswith(".googleCalendar"))


def swap_branches(document):
    """What stands behind both outputs of one node changes places."""
    first, second = (
        next(node for node in document["nodes"] if node["name"] == name)
        for name in ("Google Calendar", "Respond invalid args")
    )
    first["position"], second["position"] = second["position"], first["position"]


EDITS = {
    "a parameter": lambda document: google(document)["parameters"].update(start="={{ 1 }}"),
    "a node that is switched off": lambda document: google(document).update(disabled=True),
    "a connection": lambda document: document["connections"]["Input ok?"]["main"][1].clear(),
    "a credential": lambda document: google(document)["credentials"]["googleCalendarOAuth2Api"].update(
        id="wifeCalendar0001"
    ),
    "the order of the branches": swap_branches,
    "the name": lambda document: document.update(name="renamed"),
    "a setting": lambda document: document["settings"].update(executionTimeout=3),
    "a setting that is gone": lambda document: document["settings"].update(timezone="DEFAULT"),
    "access for MCP": lambda document: document["settings"].update(availableInMCP=True),
    "who may call it": lambda document: document["settings"].update(callerPolicy="any"),
    "how binary data is kept": lambda document: document["settings"].update(binaryMode="combined"),
    "how saved time is counted": lambda document: document["settings"].update(timeSavedMode="dynamic"),
}
# What the editor's settings dialog sends when somebody opens it and saves, whatever they changed.
DIALOG = {
    "availableInMCP": False,
    "binaryMode": "separate",
    "callerPolicy": "workflowsFromSameOwner",
    "errorWorkflow": "DEFAULT",
    "saveDataErrorExecution": "DEFAULT",
    "saveDataSuccessExecution": "DEFAULT",
    "saveExecutionProgress": "DEFAULT",
    "saveManualExecutions": "DEFAULT",
    "timeSavedMode": "fixed",
}
NO_EDITS = {
    "a move": lambda document: google(document).update(position=[700, -150]),
    "a settings dialog that was opened and saved": lambda document: document["settings"].update(DIALOG),
    "nothing": lambda _: None,
}


def edited(bench, change):
    """The digests of an export, and of what n8n holds when a person has changed it in the editor."""
    document = copy.deepcopy(EXPORTS[0])
    workflow_id = bench.n8n.workflows.create(document)
    try:
        seen = bench.n8n.owner.editor("GET", f"workflows/{workflow_id}")
        change(seen)
        kept = {key: seen[key] for key in ("name", "nodes", "connections", "settings", "versionId")}
        bench.n8n.owner.editor("PATCH", f"workflows/{workflow_id}", kept)
        return canonical_digest(document), canonical_digest(
            bench.n8n.owner.api("GET", f"workflows/{workflow_id}")
        )
    finally:
        bench.n8n.workflows.remove(workflow_id)


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_what_a_person_edits_changes_the_digest(stocked, change):
    before, after = edited(stocked, change)
    assert before != after


@pytest.mark.parametrize("change", NO_EDITS.values(), ids=NO_EDITS)
def test_what_changes_nothing_that_runs_keeps_the_digest(stocked, change):
    before, after = edited(stocked, change)
    assert before == after


def test_the_digest_is_the_same_for_what_is_served_and_what_the_command_line_writes(n8n_bench):
    bench = n8n_bench.household()
    folder = n8n_bench.n8n.server.folder / "exports"
    n8n_bench.n8n.server.command("export:workflow", "--backup", f"--output={folder}")
    try:
        for route, workflow_id in bench.workflows.items():
            wanted = canonical_digest(bench.exports[route])
            live = n8n_bench.n8n.owner.api("GET", f"workflows/{workflow_id}")
            assert canonical_digest(published_version(live)) == wanted
            written = json.loads((folder / f"{workflow_id}.json").read_text(encoding="utf-8"))
            assert canonical_digest(written) == wanted
        n8n_bench.n8n.server.command("import:workflow", "--separate", f"--input={folder}")
        for route, workflow_id in bench.workflows.items():
            live = n8n_bench.n8n.owner.api("GET", f"workflows/{workflow_id}")
            assert canonical_digest(live) == canonical_digest(bench.exports[route])
            n8n_bench.n8n.workflows.publish(workflow_id)  # gives the stale registration an owner again
    finally:
        n8n_bench.empty()
