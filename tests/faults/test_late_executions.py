"""n8n answers before it stores the execution: what only the execution tells is waited for."""

from __future__ import annotations

from fault_runs import INVENTORY, is_proven, judged, verified

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults import Planted
from butlerctl.lab.stack import Lab

PAGES = [
    Planted("shape.page", Route(operation, "husband"))
    for operation in ("sheets_read", "tasks_list", "calendar_add")
]


def test_a_page_in_place_of_the_answer_is_told_from_a_request_that_never_arrived(tmp_path):
    with Lab(INVENTORY) as lab:
        lab.n8n.executions.lag = 0.5
        found = judged(verified(lab, PAGES, INVENTORY.routes, tmp_path))
    broken = {route: said.first_broken.link for route, said in found.items() if said.first_broken}
    assert broken == {planted.route: "shape" for planted in PAGES}
    assert [route for route, said in found.items() if not is_proven(said)] == [
        route for route in INVENTORY.routes if route in broken
    ]
