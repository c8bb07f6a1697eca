"""The webhook of a contract route has the wrong method or the wrong path.

The plugin sends POST to exactly `prefix/domain/verb/profile`. Another method, another letter case, a slash too
many: n8n answers 404.

Fix: correct the Webhook node.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.contract import methods_of, path_of
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Node, Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    routes = context.routes
    if routes.any is None:
        return
    for node in workflow.webhooks:
        if not node.disabled:
            problem = _path_problem(node, context)
            if problem:
                path = (*node.path, "parameters", "path")
                yield Hit(problem, path, node=node.name, help="correct the path of the Webhook node")
            if "POST" not in methods_of(node):
                yield Hit(
                    f"the route is called with POST, the webhook takes {', '.join(methods_of(node))}",
                    (*node.path, "parameters", "httpMethod"),
                    node=node.name,
                    help="set the HTTP method to POST",
                )


def _path_problem(node: Node, context: Context) -> str:
    path = path_of(node)
    routes = context.routes
    here = context.contract.route_of_path(path)
    declared = routes.declared
    if here and here in (routes.by_file, routes.by_name):
        declared = here
    if declared and (here is None or here.operation != declared.operation):
        return f"the path {path!r} is not that of {declared}" if path else ""
    if here and path != context.contract.expected_path(here, path):
        return f"the path {path!r} must be written {context.contract.expected_path(here, path)!r}"
    return ""


RULE = Rule("BW302", "wrong method or path for a contract route", Severity.ERROR, check=check)
