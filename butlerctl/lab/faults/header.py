"""The webhook's key is missing, wrong, or not asked for."""

from __future__ import annotations

from typing import Any

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults.base import Edit, Fault, Faults, exported, plugin, published, webhook_node
from butlerctl.lab.stack import Lab


def _no_authentication(document: dict[str, Any]) -> None:
    node = webhook_node(document)
    node["parameters"]["authentication"] = "none"
    node.pop("credentials", None)


def _ignore_bots(document: dict[str, Any]) -> None:
    webhook_node(document)["parameters"]["options"] = {"ignoreBots": True}


def _other_addresses(document: dict[str, Any]) -> None:
    webhook_node(document)["parameters"]["options"] = {"ipWhitelist": "10.20.30.40"}


def _with_credential(credential_id: str) -> Edit:
    reference = {"id": credential_id, "name": f"webhook key {credential_id}"}
    return lambda document: webhook_node(document).update(credentials={"httpHeaderAuth": reference})


def _another_key(lab: Lab, route: Route, credential_id: str, header: str, value: str) -> None:
    """This webhook waits for another key: a second header credential."""
    data = {"name": header, "value": value}
    lab.n8n.add_credential(credential_id, f"webhook key {credential_id}", "httpHeaderAuth", data)
    published(_with_credential(credential_id))(lab, route)


def _changed(lab: Lab, route: Route) -> None:
    _another_key(lab, route, "LabOtherHeader01", lab.inventory.n8n.webhook.header, "another-lab-secret")


def _renamed(lab: Lab, route: Route) -> None:
    right = lab.inventory.n8n.webhook.secret
    _another_key(lab, route, "LabOtherHeader02", "X-Another-Header", right.get() if right else "")


FAULTS: Faults = {
    "missing": Fault("the plugin does not send the key", plugin("no_header")),
    "wrong": Fault("the plugin sends another key", plugin("wrong_header")),
    "changed": Fault("n8n holds another key for this webhook", _changed),
    "renamed": Fault("n8n waits for the key in another header", _renamed),
    "no_credential": Fault(
        "the webhook's credential is not there", published(_with_credential("LabNoSuchHeader1"))
    ),
    "open": Fault("the live webhook wants no key at all", published(_no_authentication)),
    "open_export": Fault("the export's webhook wants no key at all", exported(_no_authentication)),
    "bots": Fault("the live webhook ignores bots, the plugin among them", published(_ignore_bots)),
    "bots_export": Fault("the export's webhook ignores bots, the plugin among them", exported(_ignore_bots)),
    "addresses": Fault("the live webhook lets other addresses in only", published(_other_addresses)),
}
