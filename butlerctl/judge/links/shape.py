"""`shape`: does the answer have a shape that answers the request, and an honest status?"""

from __future__ import annotations

from butlerctl.judge import payload
from butlerctl.judge.answer import Answer, Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven

_EXPECTED = {True: "an id or a range of the stored {}", False: "a list of {}s"}


def judge(case: Case) -> Finding:
    found = case.answer
    if found is None:
        return _of_execution(case) or unproven("shape.body_present", "no answer was recorded")
    if case.usable(found):
        return proven("shape.fields", _proof(case, found), found.document)
    if found.kind is Kind.JSON:
        return _of_json(case, found)
    check = _CHECKS.get(found.kind)
    if check is None or _is_probe_answer(case, found):
        return unproven("shape.body_present", f"no answer of the workflow: {found.kind}", found.document)
    return broken(
        check,
        f"{found.kind}: {found.words}",
        found.document,
        expected="JSON with 2xx that answers the request",
    )


_CHECKS = {
    Kind.EMPTY: "shape.body_present",
    Kind.NOT_JSON: "shape.content_type",
    Kind.PAGE: "shape.content_type",
    Kind.STATUS: "shape.status",
    Kind.INVALID_ARGS: "shape.status",
}


def _of_execution(case: Case) -> Finding | None:
    """Without an answer, an execution that failed tells what the caller got."""
    for execution in case.executions[-1:]:
        if str(execution.document.get("status")) in {"error", "crashed"}:
            node = execution.document.get("node") or "a node"
            seen = f"the execution failed at {node}"
            return broken("shape.status", seen, execution.document, expected="an execution that ends well")
    return None


def _is_probe_answer(case: Case, found: Answer) -> bool:
    """A probe sends forbidden input on purpose: being refused is the right answer."""
    return found.kind is Kind.INVALID_ARGS and not case.main and not case.calls


def _of_json(case: Case, found: Answer) -> Finding:
    error = payload.error_inside(found.body) or payload.error_in_items(found.body)
    expected = _EXPECTED[case.operation.writes].format(case.noun)
    if error:
        return broken(
            "shape.error_field",
            f"an error inside the answer: {error[:120]}",
            found.document,
            expected=expected,
        )
    echoed = payload.is_echo(payload.unwrap(found.body)) or "webhookUrl" in str(found.body)
    seen = "the request, echoed" if echoed else f"JSON without {expected}: {_keys(found)}"
    return broken(
        "shape.fields",
        seen,
        found.document,
        expected=expected,
        advice="The workflow responds before, or beside, its formatter.",
    )


def _keys(found: Answer) -> str:
    plain = payload.unwrap(found.body)
    if isinstance(plain, dict) and isinstance(plain.get("message"), str):
        return f"the message {plain['message'][:60]!r}"
    if isinstance(plain, dict):
        return f"the fields {', '.join(map(str, plain))}" if plain else "an empty object"
    return "a list" if isinstance(plain, list) else f"only {plain!r}"[:60]


def _proof(case: Case, found: Answer) -> str:
    if case.operation.writes:
        return f"the answer names {payload.object_ids(found.body)[0]}"
    return f"the answer lists {len(payload.items(found.body, case.operation.domain) or ())}"
