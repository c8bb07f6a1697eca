"""The webhook's key is missing, wrong, or not asked for."""

from __future__ import annotations

from typing import Any

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults.base import Fault, Faults, exported, plugin, published, webhook_node
from butlerctl.lab.stack import Lab


def _no_authentication(document: dict[str, Any]) -> None:
    node = webhook_node(document)
    node["parameters"]["authentication"] = "none"
    node.pop("credentials", None)


def _ignore_bots(document: dict[str, Any]) -> None:
    webhook_node(document)["parameters"]["options"] = {"ignoreBots": True}


def _other_addresses(document: dict[str, Any]) -> None:
    webhook_node(document)["parameters"]["options"] = {"ipWhitelist": "10.20.30.40"}


def _other_credential(document: dict[str, Any]) -> None:
    reference = {"id": "LabOtherHeader01", "name": "another webhook key"}
    webhook_node(document)["credentials"] = {"httpHeaderAuth": reference}


def _changed(lab: Lab, route: Route) -> None:
    """n8n holds another secret for this webhook: a second header credential."""
    data = {"name": lab.inventory.n8n.webhook.header, "value": "another-lab-secret"}
    lab.n8n.add_credential("LabOtherHeader01", "another webhook key", "httpHeaderAuth", data)
    published(_other_credential)(lab, route)


def _renamed(lab: Lab, route: Route) -> None:
    """n8n waits for the right secret in a header of another name."""
    right = lab.inventory.n8n.webhook.secret
    data = {"name": "X-Another-Header", "value": right.get() if right else ""}
    lab.n8n.add_credential("LabOtherHeader01", "another webhook key", "httpHeaderAuth", data)
    published(_other_credential)(lab, route)


FAULTS: Faults = {
    "missing": Fault("the plugin does not send the key", plugin("no_header")),
    "wrong": Fault("the plugin sends another key", plugin("wrong_header")),
    "changed": Fault("n8n holds another key for this webhook", _changed),
    "renamed": Fault("n8n waits for the key in another header", _renamed),
    "no_credential": Fault("the webhook's credential is not there", published(_other_credential)),
    "open": Fault("the live webhook wants no key at all", published(_no_authentication)),
    "open_export": Fault("the export's webhook wants no key at all", exported(_no_authentication)),
    "bots": Fault("the live webhook ignores bots, the plugin among them", published(_ignore_bots)),
    "bots_export": Fault("the export's webhook ignores bots, the plugin among them", exported(_ignore_bots)),
    "addresses": Fault("the live webhook lets other addresses in only", published(_other_addresses)),
}
