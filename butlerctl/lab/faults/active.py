"""What runs in n8n is not what ought to run, or it does not run."""

from __future__ import annotations

from typing import Any

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults.base import (
    Fault,
    Faults,
    edited,
    google_node,
    node_named,
    published,
    set_on,
    webhook_node,
)
from butlerctl.lab.stack import Lab


def _inactive(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.unpublish(lab.workflow_id(route))


def _archived(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.archive(lab.workflow_id(route))


def _removed(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.remove(lab.workflow_id(route))


def _draft(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.save(lab.workflow_id(route), edited(lab, route, _another_script))


def _old_version_served(lab: Lab, route: Route) -> None:
    """What is saved equals the export, and n8n serves an older version."""
    published(_another_script)(lab, route)
    lab.n8n.workflows.save(lab.workflow_id(route), edited(lab, route))


def _published_beside(lab: Lab, route: Route) -> None:
    """n8n's command line published it beside the server: the API says active, the URL does not answer."""
    lab.n8n.workflows.publish_beside(lab.workflow_id(route))


def _older_version_runs(lab: Lab, route: Route) -> None:
    """Export, saved and published version are the same, and one process of n8n still runs the version before."""
    published(_another_script)(lab, route)
    lab.n8n.workflows.publish_unheard(lab.workflow_id(route), edited(lab, route))


def _another_owner(lab: Lab, route: Route) -> None:
    """The workflow is off, and another one serves its path."""
    lab.n8n.workflows.unpublish(lab.workflow_id(route))
    lab.n8n.import_workflow(edited(lab, route, _by_somebody_else, _another_script))


def _two_owners(lab: Lab, route: Route) -> None:
    """Two workflows are active at the path: the one that was published first answers."""
    _another_owner(lab, route)
    lab.n8n.workflows.publish_beside(lab.workflow_id(route))


def _by_somebody_else(document: dict[str, Any]) -> None:
    document["name"] = "a copy of somebody"
    document["id"] = f"2nd{document['id']}"[:16]


def _another_script(document: dict[str, Any]) -> None:
    node_named(document, "Check input")["parameters"]["jsCode"] += "\n// edited by hand"


def _other_limit(document: dict[str, Any]) -> None:
    document["settings"] = {**document["settings"], "executionTimeout": 7}


def _moved(document: dict[str, Any]) -> None:
    webhook_node(document)["parameters"]["path"] += "/moved"


def formatter_skipped(document: dict[str, Any]) -> None:
    source = next(
        name for name, ways in document["connections"].items() for way in ways["main"] for target in way
        if target["node"] == "Format response"
    )  # fmt: skip
    document["connections"][source]["main"][0] = [{"node": "Respond ok", "type": "main", "index": 0}]


def _switched_off(document: dict[str, Any]) -> None:
    google_node(document)["disabled"] = True


FAULTS: Faults = {
    "inactive": Fault("the workflow is not active", _inactive),
    "draft": Fault("an edit was saved and not published", _draft),
    "old_version": Fault("n8n serves an older version than the saved one", _old_version_served),
    "older_runs": Fault("n8n runs an older version than it publishes", _older_version_runs),
    "edited": Fault("the settings of the live workflow were edited by hand", published(_other_limit)),
    "formatter_skipped": Fault(
        "the live workflow answers without its formatter", published(formatter_skipped)
    ),
    "switched_off": Fault("the live workflow's Google node is disabled", published(_switched_off)),
    "moved": Fault("the live webhook has another path", published(_moved)),
    "method": Fault("the live webhook takes GET", published(set_on("Webhook", httpMethod="GET"))),
    "archived": Fault("the workflow is archived", _archived),
    "never_imported": Fault("n8n has no such workflow", _removed),
    "unserved": Fault("n8n says active, and its URL does not answer", _published_beside),
    "another_owner": Fault("another workflow serves the path", _another_owner),
    "two_owners": Fault("two workflows are active at the path", _two_owners),
}
