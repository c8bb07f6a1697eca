"""gateway.kind openai: butlerctl runs the function-calling loop itself, and the routes are proven all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from butlerctl.errors import InventoryError
from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.values import Value
from butlerctl.judge.result import ChainVerdict
from butlerctl.lab.server import LoopbackServer
from butlerctl.lab.stack import Lab
from butlerctl.progress import Nobody
from butlerctl.verify import Assignment, verify

INVENTORY = load_inventory(Path(__file__).parents[2] / "inventory.yaml", {})


def with_provider(inventory, url: str, model: str):
    gateway = replace(
        inventory.gateway, kind="openai", url=Value(url, "test", Path(), {}), token=None, model=model
    )
    return replace(inventory, gateway=gateway)


def test_all_routes_are_proven_through_the_own_loop_and_its_exchanges_are_evidence(tmp_path):
    with Lab(INVENTORY) as lab, LoopbackServer(lab.model.app) as provider:
        household = with_provider(lab.inventory, f"{provider.url}/v1", "lab-butler-1")
        routes = household.routes[:4]
        result = verify(household, Assignment(routes, tmp_path, lab=True), Nobody())
    assert [route.verdict for route in result.run.routes] == [ChainVerdict.PASS] * 4
    seen_by = {doc.get("seen_by") for bundle in result.bundles.values() for doc in bundle.evidence}
    assert "plugin" in seen_by


def test_a_provider_without_a_model_is_a_fault_of_the_inventory(tmp_path):
    with Lab(INVENTORY) as lab:
        household = with_provider(lab.inventory, "http://127.0.0.1:9/v1", "")
        household = replace(household, pins=replace(household.pins, model=""))
        with pytest.raises(InventoryError, match=r"gateway\.model is missing"):
            verify(household, Assignment(household.routes, tmp_path, lab=True), Nobody())
