"""The part of n8n's security audit that is about webhooks, code and the instance's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from butlerctl.lab.n8n.workflows import Refused, Workflow
from butlerctl.workflows.workflow import BASE, WEBHOOK

CATEGORIES = ("credentials", "database", "nodes", "filesystem", "instance")
_VALIDATORS = frozenset({BASE + name for name in ("code", "function", "functionItem", "if", "switch")})
_SETTINGS = {
    "features": {
        "communityPackagesEnabled": False,
        "versionNotificationsEnabled": False,
        "templatesEnabled": False,
        "publicApiEnabled": True,
    },
    "nodes": {"nodesExclude": "n8n-nodes-base.executeCommand", "nodesInclude": "none"},
    "telemetry": {"diagnosticsEnabled": False},
}


def audit(workflows: Iterable[Workflow], wanted: Sequence[str]) -> dict[str, Any] | list[Any]:
    """The reports by title; an empty list when there is nothing to say. Raises Refused 400 for unknown categories."""
    for number, category in enumerate(wanted):
        if category not in CATEGORIES:
            raise Refused(
                400,
                f"request/body/additionalOptions/categories/{number} must be equal to one of the allowed values: "
                + ", ".join(CATEGORIES),
            )
    found = list(workflows)
    reports: Mapping[str, Callable[[], list[dict[str, Any]]]] = {
        "nodes": lambda: _section("Official risky nodes", _flagged(found, _runs_code)),
        "instance": lambda: [
            *_section("Unprotected webhooks in instance", _flagged(found, _is_open)),
            {"title": "Security settings", "settings": _SETTINGS},
        ],
    }
    made = {
        f"{category.title()} Risk Report": {"risk": category, "sections": reports[category]()}
        for category in wanted or CATEGORIES
        if category in reports
    }
    return {title: report for title, report in made.items() if report["sections"]} or []


def _section(title: str, location: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"title": title, "location": location}] if location else []


def _flagged(
    workflows: Iterable[Workflow], fits: Callable[[Workflow, Mapping[str, Any]], bool]
) -> list[dict[str, Any]]:
    return [
        {
            "kind": "node",
            "workflowId": workflow.id,
            "workflowName": workflow.name,
            "nodeId": node.get("id"),
            "nodeName": node["name"],
            "nodeType": node["type"],
        }
        for workflow in workflows
        for node in workflow.versions[workflow.saved].nodes
        if fits(workflow, node)
    ]


def _runs_code(_workflow: Workflow, node: Mapping[str, Any]) -> bool:
    return bool(node["type"] == BASE + "code")


def _is_open(workflow: Workflow, node: Mapping[str, Any]) -> bool:
    """As n8n sees it: published, `authentication` is not set at all, and no node behind it that could check.

    It looks at what is saved, and takes a "none" that is written out for something else than none.
    """
    if node["type"] != WEBHOOK or not workflow.published or "authentication" in node["parameters"]:
        return False
    version = workflow.versions[workflow.saved]
    first = (version.connections.get(node["name"], {}).get("main") or [[]])[0] or []
    behind = {target["node"] for target in first}
    return not any(each["name"] in behind and each["type"] in _VALIDATORS for each in version.nodes)
