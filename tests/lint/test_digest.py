"""The canonical digest: blind to what n8n adds, and to nothing else."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from butlerctl.errors import BadDocument
from butlerctl.workflows.canonical import canonical_form
from butlerctl.workflows.digest import canonical_digest, published_version

EXPORT = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))


def as_n8n_returns_it(export: dict) -> dict:
    live = copy.deepcopy(export)
    live.pop("active")
    for node in live["nodes"]:
        node["id"] = "minted-" + node["name"]
    version = {"versionId": "v2", "nodes": live["nodes"], "connections": live["connections"], "name": None}
    return live | {
        "id": "another", "createdAt": "2026-07-04T08:00:00Z", "active": True, "isArchived": False, "staticData": None,
        "shared": [{"role": "workflow:owner"}], "tags": [{"name": "x"}], "versionCounter": 7, "meta": None,
        "settings": {**live["settings"], "callerPolicy": "workflowsFromSameOwner", "availableInMCP": False},
        "activeVersion": version,
    }  # fmt: skip


def test_an_export_its_saved_and_its_published_version_have_one_digest():
    live = as_n8n_returns_it(EXPORT)
    published = published_version(live)
    assert published is not None
    assert canonical_digest(EXPORT) == canonical_digest(live) == canonical_digest(published)


def test_an_unpublished_workflow_has_no_published_version():
    assert published_version(EXPORT | {"activeVersion": None}) is None


def test_the_name_of_a_credential_does_not_count_but_its_id_does():
    renamed = copy.deepcopy(EXPORT)
    renamed["nodes"][0]["credentials"]["httpHeaderAuth"]["name"] = "corrected by n8n"
    assert canonical_digest(renamed) == canonical_digest(EXPORT)
    renamed["nodes"][0]["credentials"]["httpHeaderAuth"]["id"] = "AnotherId0000001"
    assert canonical_digest(renamed) != canonical_digest(EXPORT)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(name="other"),
        lambda d: d["settings"].update(timezone="Asia/Tokyo"),
        lambda d: d["nodes"][1]["parameters"].update(operation="getAll"),
        lambda d: d["nodes"][1].update(disabled=True),
        lambda d: d["settings"].update(availableInMCP=True),
        lambda d: d["settings"].update(callerPolicy="any"),
        lambda d: d["settings"].update(binaryMode="combined"),
        lambda d: d["nodes"].pop(),
        lambda d: d["connections"].pop("Webhook"),
    ],
)
def test_whatever_a_person_changes_changes_the_digest(change):
    changed = copy.deepcopy(EXPORT)
    change(changed)
    assert canonical_digest(changed) != canonical_digest(EXPORT)


def test_the_order_of_nodes_and_keys_does_not_count():
    shuffled = json.loads(json.dumps(EXPORT, sort_keys=True))
    shuffled["nodes"].reverse()
    assert canonical_digest(shuffled) == canonical_digest(EXPORT)
    assert canonical_form(shuffled) == canonical_form(EXPORT)


@pytest.mark.parametrize(
    ("order", "places", "expected"),
    [
        ("v1", {"A": [0, 9], "B": [0, 1], "C": [0, 5]}, "BCA"),
        ("v1", {"A": [9, 1], "B": [1, 1], "C": [5, 1]}, "BCA"),
        ("v1", {"A": [1, 1], "B": [1, 1], "C": [1, 1]}, "CBA"),
        ("v1", {"A": None, "B": [0, -1]}, "BCA"),
        ("v0", {"A": [0, 9], "B": [0, 1], "C": [0, 5]}, "ABC"),
    ],
)
def test_what_stands_behind_a_node_runs_from_the_top_down_then_from_the_left(order, places, expected):
    """As n8n 2.30.8 ran them; at one place the last written comes first, and without v1 the first written."""
    document = {
        "nodes": [{"name": name, "position": place} for name, place in places.items()],
        "connections": {"W": {"main": [[{"node": name, "type": "main", "index": 0} for name in "ABC"]]}},
        "settings": {"executionOrder": order},
    }
    assert [name for name, _ in canonical_form(document)["order"]["W"]] == list(expected)


@pytest.mark.parametrize(
    ("written", "returned"), [(1e17, 10**17), (2.0**60, 1152921504606847000), (-1e20, -(10**20))]
)
def test_a_large_double_has_one_digest_however_it_is_written(written, returned):
    documents = [
        {"name": "w", "nodes": [{"name": "n", "parameters": {"x": value}}]} for value in (written, returned)
    ]
    assert canonical_digest(documents[0]) == canonical_digest(documents[1])


@pytest.mark.parametrize("value", [2**53 + 1, float("nan"), "\ud800"])
def test_what_json_cannot_carry_safely_is_refused_by_name(value):
    with pytest.raises(BadDocument, match="no canonical form"):
        canonical_digest(EXPORT | {"settings": {"odd": value}})
