"""What is not there proves nothing: every document of a run is left out in turn, of healthy and of broken routes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fault_runs import INVENTORY, is_proven, verified

from butlerctl.evidence import digest
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge import judge
from butlerctl.judge.result import Verdict
from butlerctl.lab.faults import Planted
from butlerctl.lab.stack import Lab

NEEDED = ("transcript", "execution", "exchange", "workflow_live", "workflow_export", "readback")
# Several for each link, each on a round trip of its own.
BROKEN = (
    ("call.narrated@calendar_add/wife", "route.other_person@tasks_add/wife", "request.timeout@sheets_append/wife",
     "header.missing@calendar_list/husband", "active.draft@tasks_list/husband", "credential.rebound@sheets_read/husband"),
    ("google.twice@calendar_add/wife", "shape.empty@tasks_list/wife", "report.denied@sheets_append/wife",
     "header.open@calendar_add/husband", "active.two_owners@tasks_add/husband", "google.hidden@sheets_read/husband"),
    ("call.wrong_hour@calendar_list/wife", "google.no_due@tasks_add/wife", "shape.status@sheets_append/wife",
     "report.other_facts@calendar_list/husband", "credential.revoked@tasks_list/husband", "google.columns@sheets_append/husband"),
)  # fmt: skip


def planted(text: str) -> Planted:
    name, _, place = text.partition("@")
    return Planted(name, Route(*place.split("/")))


def bundles(tmp_path, faults=()):
    with Lab(INVENTORY) as lab:
        return verified(lab, faults, INVENTORY.routes, tmp_path).bundles


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    return bundles(tmp_path_factory.mktemp("healthy"))


def without(bundle, *left_out):
    return replace(
        bundle, evidence=tuple(item for item in bundle.evidence if not any(item is out for out in left_out))
    )


@pytest.mark.parametrize("kind", NEEDED)
def test_nine_links_are_not_proven_without_a_kind_of_evidence(healthy, kind):
    for route, bundle in healthy.items():
        assert is_proven(judge(bundle)), route
        gone = [item for item in bundle.evidence if item["kind"] == kind]
        assert gone, (route, kind)
        assert not is_proven(judge(without(bundle, *gone))), (route, kind)


def test_a_proven_link_rests_on_documents_that_are_there(healthy):
    for route, bundle in healthy.items():
        for item in bundle.evidence:
            rest = without(bundle, item)
            held = {digest(other) for other in rest.evidence}
            for link in judge(rest).links:
                assert link.verdict is not Verdict.BROKEN, (route, item["kind"], link)
                if link.verdict is Verdict.PROVEN:
                    assert link.rests_on, (route, item["kind"], link)
                    assert set(link.rests_on) <= held, (route, item["kind"], link)


def test_a_link_is_unproven_without_all_that_it_rests_on(healthy):
    """Taken away again and again, until nothing is left that could prove it."""
    for route, bundle in healthy.items():
        for name in (link.link for link in judge(bundle).links):
            rest = bundle
            for _ in bundle.evidence:
                link = next(link for link in judge(rest).links if link.link == name)
                if link.verdict is not Verdict.PROVEN:
                    break
                gone = [item for item in rest.evidence if digest(item) in link.rests_on]
                rest = without(rest, *gone)
            assert link.verdict is Verdict.UNPROVEN, (route, name)


@pytest.mark.parametrize("faults", BROKEN, ids=range(len(BROKEN)))
def test_no_missing_document_makes_a_broken_route_proven(faults, tmp_path):
    found = bundles(tmp_path, map(planted, faults))
    for fault in map(planted, faults):
        bundle = found[fault.route]
        assert not is_proven(judge(bundle)), fault
        for item in bundle.evidence:
            assert not is_proven(judge(without(bundle, item))), (fault, item["kind"])


def test_the_broken_routes_are_of_every_operation_and_link():
    faults = [planted(text) for batch in BROKEN for text in batch]
    assert {fault.route.operation for fault in faults} == set(OPERATIONS)
    assert len({fault.name.partition(".")[0] for fault in faults}) == 9
