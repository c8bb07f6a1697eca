"""A good call, and a plugin that is not as it ought to be: each runs with a spoilt copy of the household's plugin."""

from __future__ import annotations

from butlerctl.lab.conformance.case import Case, Right
from butlerctl.lab.conformance.questions import EVENT, ROW, TASK, TASKS
from butlerctl.lab.conformance.script import Ask, native
from butlerctl.lab.conformance.servers import Behaviour, answer_json, succeed


def _plugin(
    case_id: str,
    plugin: str,
    title: str,
    right: Right,
    ask: Ask = EVENT,
    *,
    name: str = "",
    webhook: Behaviour = succeed,
) -> Case:
    """`name` is what the model calls instead of the asked tool."""
    return Case(
        case_id,
        "plugin",
        title,
        right,
        ask,
        lambda it: [native(it.call(name=name or None))],
        webhook=webhook,
        plugin=plugin,
    )


def _unchecked(case_id: str, title: str, webhook: Behaviour, right: Right = Right.FAILS) -> Case:
    return _plugin(case_id, "careless", f"the status is not checked: {title}", right, TASK, webhook=webhook)


_FORBIDDEN = {"code": 403, "message": "Authorization data is wrong!"}
_NOT_REGISTERED = {"code": 404, "message": "The requested webhook is not registered."}

PLUGIN_CASES = (
    _plugin("plugin_no_contracts", "no_contracts", "a manifest without contracts.tools", Right.FAILS),
    _plugin("plugin_no_packages", "no_packages", "typebox is not installed", Right.FAILS),
    _plugin("plugin_mixed_case", "mixed_case_id", "an id with capital letters", Right.RUNS),
    _plugin("plugin_throws", "careless", "the tool throws", Right.FAILS),
    _plugin("plugin_not_named", "careless", "contracts.tools lacks the tool", Right.REFUSED, TASKS),
    _plugin("plugin_no_schema", "careless", "the tool has no parameters", Right.REFUSED, ROW),
    _plugin(
        "plugin_core_name",
        "careless",
        "the tool has the name of the gateway's own exec",
        Right.REFUSED,
        TASKS,
        name="exec",
    ),
    _unchecked("plugin_unchecked", "all is well", succeed, Right.RUNS),
    _unchecked("plugin_unchecked_403", "403", answer_json(403, _FORBIDDEN)),
    _unchecked("plugin_unchecked_404", "404", answer_json(404, _NOT_REGISTERED)),
    _unchecked("plugin_unchecked_500", "500", answer_json(500, {"message": "Error in workflow"})),
    _unchecked(
        "plugin_unchecked_no", "200 with ok: false", answer_json(200, {"ok": False, "error": "invalid_grant"})
    ),
    _unchecked(
        "plugin_unchecked_started",
        "200 that was only started",
        answer_json(200, {"message": "Workflow was started"}),
    ),
)
