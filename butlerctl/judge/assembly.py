"""From a run's documents to its operations: which request, answer and execution belongs to which call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from butlerctl.evidence import Document
from butlerctl.inventory.operations import OPERATION_OF_TOOL, OPERATIONS, Route
from butlerctl.judge import answer, values
from butlerctl.judge.asked import Asked, asked_of
from butlerctl.judge.case import Attempt, Case
from butlerctl.judge.conversation import Call, Conversation
from butlerctl.judge.execution import Execution
from butlerctl.judge.requests import (
    call_id_of,
    is_api_call,
    is_preflight,
    is_probe,
    is_without_key,
    sent_body,
)
from butlerctl.judge.run import Evidence
from butlerctl.judge.values import texts_in


def cases_of(evidence: Evidence, conversation: Conversation | None) -> tuple[Case, ...]:
    """The operations of one run, the asked one first."""
    intent = evidence.bundle.intent
    calls = conversation.calls if conversation else ()
    if intent is None:
        return tuple(_side_cases(evidence, conversation, calls)) + _cases_of_routes(evidence)
    own = tuple(call for call in calls if call.name == intent.tool)
    arguments = {"profile": intent.profile, **intent.arguments}
    if not any("profile" in (call.ran or {}) for call in own):
        arguments = dict(intent.arguments)
    right = tuple(
        call
        for call in own
        if call.arguments is not None
        and not values.differing(arguments, call.ran or {}, evidence.bundle.zone)
    )
    others = tuple(call for call in calls if call not in own)
    if right:
        asked = asked_of(intent.arguments, evidence.bundle.zone)
        extra = [
            call for call in own if call not in right and not _same_object(call, asked, evidence.bundle.zone)
        ]
        own, others = tuple(call for call in own if call not in extra), (*extra, *others)
    main = _case(evidence, conversation, intent.route, arguments, own, right, main=True)
    return (main, *_side_cases(evidence, conversation, others))


def _same_object(call: Call, asked: Asked, zone: tzinfo) -> bool:
    given = asked_of(call.ran or {}, zone)
    return (given.title, given.cells) == (asked.title, asked.cells)


def _side_cases(
    evidence: Evidence, conversation: Conversation | None, calls: Iterable[Call]
) -> Iterator[Case]:
    """What the turn did besides: one case for each object or list, its calls being attempts at it."""
    groups: dict[tuple[str, str, Any], list[Call]] = {}
    for call in calls:
        operation = OPERATION_OF_TOOL.get(call.name)
        ran = call.ran if call.arguments is not None or not call.failed else None
        profile = (ran or {}).get("profile")
        if operation and isinstance(profile, str) and ran is not None:
            asked = asked_of(ran, evidence.bundle.zone)
            made = (asked.title, asked.start, asked.due, str(asked.cells)) if operation.writes else ()
            key = (operation.name, profile, made)
            groups.setdefault(key, []).append(call)
    for (operation_name, profile, _), group in groups.items():
        asked_arguments = group[-1].ran or {}
        route = Route(operation_name, profile)
        yield _case(evidence, conversation, route, asked_arguments, tuple(group), tuple(group), main=False)


def _cases_of_routes(evidence: Evidence) -> tuple[Case, ...]:
    """Without a request: one case for each route that the documents are about."""
    kinds = ("exchange", "received_request", "execution", "workflow_live", "workflow_export")
    found = [
        evidence.route_of(document)
        for document in evidence.of_kind(*kinds)
        if document["kind"] != "exchange" or not is_api_call(document)
    ]
    known = [route for route in found if route is not None]
    return tuple(_case(evidence, None, route, {}, (), (), main=False) for route in dict.fromkeys(known))


def _case(
    evidence: Evidence,
    conversation: Conversation | None,
    route: Route,
    asked: Mapping[str, Any],
    calls: tuple[Call, ...],
    right: tuple[Call, ...],
    *,
    main: bool,
) -> Case:
    exchanges = _exchanges_of(evidence, conversation, route, asked, calls)
    received = _on_route(evidence, evidence.of_kind("received_request"), route, asked)
    executions = tuple(
        Execution(document)
        for document in evidence.of_kind("execution")
        if evidence.route_of(document) == route
        and _may_be_of(Execution(document).request_body, asked, evidence)
    )
    domain = OPERATIONS[route.operation].domain
    return Case(
        bundle=evidence.bundle,
        route=route,
        asked=asked,
        main=main,
        conversation=conversation,
        calls=calls,
        right=right,
        attempts=_attempts(conversation, right or calls, exchanges),
        received=received,
        executions=executions,
        probes=tuple(
            item for item in evidence.webhook_exchanges if is_probe(item) and evidence.route_of(item) == route
        ),
        live=_about(evidence, "workflow_live", route),
        exports=_about(evidence, "workflow_export", route),
        readings=tuple(reading for reading in evidence.readings if reading.domain == domain),
        others=evidence.documents,
    )


def _about(evidence: Evidence, kind: str, route: Route) -> tuple[Document, ...]:
    return tuple(item for item in evidence.of_kind(kind) if evidence.route_of(item) == route)


def _exchanges_of(
    evidence: Evidence,
    conversation: Conversation | None,
    route: Route,
    asked: Mapping[str, Any],
    calls: Sequence[Call],
) -> tuple[Document, ...]:
    """The plugin's requests for the operation: by the id of the call, else by the path, else by what they carry.

    Where the plugin was not watched at all, a probe that was sent in its place stands for it.
    """
    exchanges = [item for item in evidence.webhook_exchanges if not is_probe(item)]
    known = {call.id for call in conversation.calls} if conversation else set()
    mine = {call.id for call in calls}
    tied = [item for item in exchanges if known and call_id_of(item)]
    loose = [item for item in exchanges if item not in tied]
    own = [item for item in tied if call_id_of(item) in mine]
    own += _on_route(evidence, loose, route, asked)
    if own or conversation is not None:
        return tuple(item for item in exchanges if item in own)
    return tuple(item for item in evidence.webhook_exchanges if _stands_for_a_request(item, evidence, route))


def _stands_for_a_request(document: Document, evidence: Evidence, route: Route) -> bool:
    """A probe that was sent as the plugin would send it, when the plugin itself was not watched."""
    alone = evidence.bundle.intent is None
    plain = "probe" not in document or (alone and document["probe"] == "answering")
    if not plain or is_preflight(document) or is_without_key(document):
        return False
    return is_probe(document) and evidence.route_of(document) == route


def _on_route(
    evidence: Evidence, documents: Iterable[Document], route: Route, asked: Mapping[str, Any]
) -> tuple[Document, ...]:
    """Those that went to the route; without one, those that carry what was asked to somewhere else."""
    found = tuple(documents)
    own = tuple(
        item
        for item in found
        if evidence.route_of(item) == route and _may_be_of(sent_body(item), asked, evidence)
    )
    if own or evidence.bundle.intent is None:
        return own
    return tuple(item for item in found if _carries(sent_body(item), asked, evidence))


def _may_be_of(body: Any, asked: Mapping[str, Any], evidence: Evidence) -> bool:
    """False only when the body names another object than the asked one."""
    if not isinstance(body, Mapping) or not asked:
        return True
    zone = evidence.bundle.zone
    names = [key for key in ("summary", "title", "values", "sheet") if key in asked and key in body]
    wrong = [key for key in names if not values.same(key, asked[key], body[key], zone)]
    return not names or len(wrong) < len(names) or _shares_a_word(asked, body, wrong)


def _shares_a_word(asked: Mapping[str, Any], body: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """A value that was changed on the way still resembles what was asked."""
    return any(set(str(asked[key]).split()) & set(str(body[key]).split()) for key in keys) or any(
        cell and cell in str(body[key]) for key in keys for cell in texts_in(asked[key])
    )


def _carries(body: Any, asked: Mapping[str, Any], evidence: Evidence) -> bool:
    keys = [key for key in asked if key != "profile"]
    zone = evidence.bundle.zone
    return (
        bool(keys)
        and isinstance(body, Mapping)
        and all(key not in body or values.same(key, asked[key], body[key], zone) for key in keys)
        and any(key in body for key in keys)
    )


def _attempts(
    conversation: Conversation | None, calls: Sequence[Call], exchanges: Sequence[Document]
) -> tuple[Attempt, ...]:
    """One attempt a call, in order; requests that no call is known of are attempts of their own."""
    if conversation is None or not calls:
        return tuple(Attempt(answer.of_exchange(item), None, item) for item in exchanges)
    ids = {call.id for call in calls}
    loose = [item for item in exchanges if call_id_of(item) not in ids]
    attempts: list[Attempt] = []
    for at, call in enumerate(calls):
        own = [item for item in exchanges if call_id_of(item) == call.id]
        if not own and loose:
            own = loose if at == len(calls) - 1 else [loose.pop(0)]
        if own:
            attempts.append(Attempt(answer.of_exchange(own[-1]), call, own[-1]))
        else:
            attempts.append(Attempt(answer.of_result(call, conversation.document), call, None))
    return tuple(attempts)
