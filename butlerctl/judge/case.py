"""A bundle, read once: one Case for each operation of the turn, with all the evidence that belongs to it.

Links look at a Case and nothing else. A document of another prompt, profile or day is another run's and is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from functools import cached_property
from typing import Any

from butlerctl.evidence import Bundle, Document
from butlerctl.inventory.operations import OPERATION_OF_TOOL, OPERATIONS, Operation, Route
from butlerctl.judge import answer, effect, payload, readback, routes, values
from butlerctl.judge.answer import Answer, Kind
from butlerctl.judge.conversation import Call, Conversation, holds_prompt, read_conversation
from butlerctl.judge.effect import Asked, Effect
from butlerctl.judge.execution import Execution
from butlerctl.judge.readback import Reading
from butlerctl.judge.routes import Address
from butlerctl.redaction import is_secret_name

# A document that was made further than this from the turn belongs to another run.
_SAME_RUN = timedelta(hours=6)
_DATED = frozenset({"transcript", "exchange", "received_request", "execution", "readback"})
_LABELS_OF_REFUSALS = frozenset({"without_key", "wrong_key"})
_WRONG_KEY = "<wrong>"
_API_CALL = re.compile(
    r"/(?:api/v1|rest)/(?:workflows|executions|credentials|users|tags|variables|projects|source-control|audit|login)\b"
)
_EXECUTION_ID = re.compile(r'\\?"execution(?:Id)?\\?"\s*:\s*\\?"?([\w-]+)')


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request for the operation: the call that asked for it, the answer, and what was sent where."""

    answer: Answer | None
    call: Call | None = None
    exchange: Document | None = None

    @property
    def address(self) -> Address | None:
        if self.exchange is not None:
            return routes.address_of(request_of(self.exchange).get("url"))
        told = _told_path(self.call.result) if self.call else ""
        return routes.address_of(told) if told else None


@dataclass(frozen=True)
class Case:
    """One operation of the turn. `right` are the calls with the asked arguments; `main` is what the intent asked."""

    bundle: Bundle
    route: Route
    asked: Mapping[str, Any]
    main: bool
    conversation: Conversation | None
    calls: tuple[Call, ...] = ()
    right: tuple[Call, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    received: tuple[Document, ...] = ()
    executions: tuple[Execution, ...] = ()
    probes: tuple[Document, ...] = ()
    live: tuple[Document, ...] = ()
    exports: tuple[Document, ...] = ()
    readings: tuple[Reading, ...] = ()
    others: tuple[Document, ...] = ()

    @property
    def operation(self) -> Operation:
        return OPERATIONS[self.route.operation]

    @property
    def zone(self) -> tzinfo:
        return self.bundle.zone

    @property
    def noun(self) -> str:
        return {"calendar": "event", "tasks": "task", "sheets": "row"}[self.operation.domain]

    @cached_property
    def wanted(self) -> Asked:
        return effect.asked_of(self.asked, self.zone)

    @property
    def last(self) -> Attempt | None:
        """The attempt that counts."""
        return self.attempts[-1] if self.attempts else None

    @property
    def answer(self) -> Answer | None:
        return self.last.answer if self.last else None

    @cached_property
    def good(self) -> tuple[Attempt, ...]:
        """Attempts whose answer is usable."""
        return tuple(attempt for attempt in self.attempts if self.usable(attempt.answer))

    @cached_property
    def confirmed_to_model(self) -> tuple[Attempt, ...]:
        """Good attempts of a right call whose result reached the model."""
        return tuple(
            attempt for attempt in self.good if attempt.call in self.right and attempt.call.result is not None
        )

    def usable(self, found: Answer | None) -> bool:
        """2xx, JSON, no error inside, and an id, a range or a list that answers the request."""
        if found is None or found.kind is not Kind.JSON or payload.error_inside(found.body):
            return False
        if self.operation.writes:
            return bool(payload.object_ids(found.body))
        return payload.items(found.body, self.operation.domain) is not None

    @cached_property
    def object_ids(self) -> tuple[str, ...]:
        """The first id of each good answer of a write: the object that it claims."""
        ids = (payload.object_ids(attempt.answer.body)[0] for attempt in self.good if attempt.answer)
        return tuple(dict.fromkeys(ids)) if self.operation.writes else ()

    @cached_property
    def effect(self) -> Effect:
        if self.operation.writes:
            return effect.of_write(
                self.readings, self.route.profile, self.wanted, self.object_ids, self.bundle.clock, self.zone
            )
        answered = None
        if self.good and self.good[-1].answer:
            answered = payload.items(self.good[-1].answer.body, self.operation.domain)
        return effect.of_read(self.readings, self.route, self.wanted, answered, self.bundle.clock, self.zone)

    @cached_property
    def own_execution(self) -> Execution | None:
        """The execution that is surely this request's: the answer names it, or it received what was asked."""
        words = [value for value in _strings(self.asked) if value != self.route.profile]
        nonce = max(words, key=len, default="")
        told = {name for attempt in self.attempts for name in _execution_ids(attempt)}
        tied = [
            item for item in self.executions if str(item.document.get("id")) in told or item.carries(nonce)
        ]
        return tied[-1] if tied else None


@dataclass(frozen=True)
class Evidence:
    """A bundle's documents of this run, by kind."""

    bundle: Bundle
    documents: tuple[Document, ...] = field(default=())

    @classmethod
    def of(cls, bundle: Bundle) -> Evidence:
        return cls(bundle, tuple(item for item in bundle.evidence if _is_of_this_run(item, bundle)))

    def of_kind(self, *kinds: str) -> tuple[Document, ...]:
        return tuple(document for document in self.documents if document["kind"] in kinds)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        found = (readback.read_reading(item, self.bundle.zone) for item in self.of_kind("readback"))
        return tuple(reading for reading in found if reading is not None)

    @cached_property
    def profiles(self) -> frozenset[str]:
        told = {reading.profile for reading in self.readings if reading.profile}
        return frozenset(told | ({self.bundle.intent.profile} if self.bundle.intent else set()))

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        """The recordings of what was asked: one, or several repeats of the same question."""
        intent = self.bundle.intent
        prompt = intent.prompt if intent else ""
        found = [read_conversation(document, prompt) for document in self.of_kind("transcript")]
        if prompt:
            return tuple(item for item in found if any(holds_prompt(words, prompt) for words in item.prompts))
        if intent and len({item.prompts for item in found}) > 1:
            asked = [item for item in found if any(call.name == intent.tool for call in item.calls)] or found
            found = [item for item in found if item.prompts == asked[0].prompts]
        return tuple(found)

    @cached_property
    def webhook_exchanges(self) -> tuple[Document, ...]:
        return tuple(item for item in self.of_kind("exchange") if not is_api_call(item) and "request" in item)

    def route_of(self, document: Document) -> Route | None:
        """The route that a document is about, when it tells."""
        if document["kind"] == "exchange":
            return routes.address_of(request_of(document).get("url")).route
        if document["kind"] == "received_request":
            return routes.address_of(document.get("path")).route
        if document["kind"] == "execution":
            execution = Execution(document)
            by_url = routes.address_of(execution.webhook_url).route if execution.webhook_url else None
            return by_url or self._route_of_execution(document)
        return routes.route_of_workflow(document.get("document"), document.get("file"), self.profiles)

    def _route_of_execution(self, document: Document) -> Route | None:
        by_name = routes.route_of_name(document.get("workflow"), self.profiles)
        if by_name is not None:
            return by_name
        for live in self.of_kind("workflow_live", "workflow_export"):
            held = live.get("document")
            told = (held.get("id"), held.get("name")) if isinstance(held, Mapping) else ()
            if any(name and name in told for name in (document.get("workflow_id"), document.get("workflow"))):
                return self.route_of(live)
        return None


def cases_of(evidence: Evidence, conversation: Conversation | None) -> tuple[Case, ...]:
    """The operations of one run, the asked one first."""
    intent = evidence.bundle.intent
    calls = conversation.calls if conversation else ()
    if intent is None:
        return tuple(_side_cases(evidence, conversation, calls)) + _cases_of_routes(evidence)
    own = tuple(call for call in calls if call.name == intent.tool)
    arguments = {"profile": intent.profile, **intent.arguments}
    if not any("profile" in (call.arguments or {}) for call in own):
        arguments = dict(intent.arguments)
    right = tuple(
        call
        for call in own
        if call.arguments is not None and not wrong_arguments(call, arguments, evidence.bundle.zone)
    )
    others = tuple(call for call in calls if call not in own)
    if right:
        asked = effect.asked_of(intent.arguments, evidence.bundle.zone)
        extra = [
            call for call in own if call not in right and not _same_object(call, asked, evidence.bundle.zone)
        ]
        own, others = tuple(call for call in own if call not in extra), (*extra, *others)
    main = _case(evidence, conversation, intent.route, arguments, own, right, main=True)
    return (main, *_side_cases(evidence, conversation, others))


def is_api_call(document: Document) -> bool:
    """Is this a call of n8n's own REST API?"""
    return _API_CALL.search(routes.address_of(request_of(document).get("url")).path) is not None


def request_of(document: Document) -> Mapping[str, Any]:
    request = document.get("request")
    return request if isinstance(request, Mapping) else {}


def is_without_key(document: Document) -> bool:
    """Was the request meant to be refused: no key, or a wrong one?"""
    if document.get("probe") in _LABELS_OF_REFUSALS:
        return True
    headers = request_of(document).get("headers")
    keys = (
        [value for name, value in headers.items() if is_secret_name(str(name))]
        if isinstance(headers, Mapping)
        else []
    )
    return not keys or all(value in ("", None, _WRONG_KEY) for value in keys)


def is_preflight(document: Document) -> bool:
    return str(request_of(document).get("method", "")).upper() == "OPTIONS"


def sent_body(document: Document) -> Any:
    """The body of an `exchange` or of a `received_request`."""
    return (
        document.get("body") if document["kind"] == "received_request" else request_of(document).get("body")
    )


def _is_of_this_run(document: Document, bundle: Bundle) -> bool:
    if document["kind"] not in _DATED or bundle.clock is None:
        return True
    moments = (values.instant(document.get(key), bundle.zone) for key in ("at", "started", "when"))
    moment = next((moment for moment in moments if moment), None)
    return moment is None or abs(moment - bundle.clock) <= _SAME_RUN


def wrong_arguments(call: Call, asked: Mapping[str, Any], zone: tzinfo) -> tuple[str, ...]:
    """The asked keys that the call lacks or answers with something else."""
    given = call.arguments or {}
    return tuple(key for key in asked if not values.same(key, asked[key], given.get(key), zone))


def _same_object(call: Call, asked: Asked, zone: tzinfo) -> bool:
    given = effect.asked_of(call.arguments or {}, zone)
    return (given.title, given.cells) == (asked.title, asked.cells)


def _side_cases(
    evidence: Evidence, conversation: Conversation | None, calls: Iterable[Call]
) -> Iterable[Case]:
    """What the turn did besides: one case for each object or list, its calls being attempts at it."""
    groups: dict[tuple[str, str, Any], list[Call]] = {}
    for call in calls:
        operation = OPERATION_OF_TOOL.get(call.name)
        profile = (call.arguments or {}).get("profile")
        if operation and isinstance(profile, str) and call.arguments is not None:
            asked = effect.asked_of(call.arguments, evidence.bundle.zone)
            made = (asked.title, asked.start, asked.due, str(asked.cells)) if operation.writes else ()
            key = (operation.name, profile, made)
            groups.setdefault(key, []).append(call)
    for (operation_name, profile, _), group in groups.items():
        asked_arguments = group[-1].arguments or {}
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
            item
            for item in evidence.webhook_exchanges
            if _is_probe(item) and evidence.route_of(item) == route
        ),
        live=_about(evidence, "workflow_live", route),
        exports=_about(evidence, "workflow_export", route),
        readings=tuple(reading for reading in evidence.readings if reading.domain == domain),
        others=evidence.documents,
    )


def _is_probe(document: Document) -> bool:
    return document.get("seen_by") in {"probe", "operator"} or "probe" in document


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
    exchanges = [item for item in evidence.webhook_exchanges if not _is_probe(item)]
    known = {call.id for call in conversation.calls} if conversation else set()
    mine = {call.id for call in calls}
    tied = [item for item in exchanges if known and item.get("tool_call_id")]
    loose = [item for item in exchanges if item not in tied]
    own = [item for item in tied if item["tool_call_id"] in mine]
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
    return _is_probe(document) and evidence.route_of(document) == route


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
        cell and cell in str(body[key]) for key in keys for cell in _strings(asked[key])
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
    loose = [item for item in exchanges if item.get("tool_call_id") not in ids]
    attempts: list[Attempt] = []
    for at, call in enumerate(calls):
        own = [item for item in exchanges if item.get("tool_call_id") == call.id]
        if not own and loose:
            own = loose if at == len(calls) - 1 else [loose.pop(0)]
        if own:
            attempts.append(Attempt(answer.of_exchange(own[-1]), call, own[-1]))
        else:
            attempts.append(Attempt(answer.of_result(call, conversation.document), call, None))
    return tuple(attempts)


def _told_path(result: str | None) -> str:
    try:
        value = json.loads(result or "")
    except (ValueError, RecursionError):
        return ""
    path = value.get("path") if isinstance(value, Mapping) else None
    return path if isinstance(path, str) and "/webhook" in path else ""


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _strings(item)]
    return [text for item in value for text in _strings(item)] if isinstance(value, list | tuple) else []


def _execution_ids(attempt: Attempt) -> list[str]:
    """The ids of n8n executions that an answer names."""
    told = json.dumps(attempt.answer.body) if attempt.answer else ""
    if attempt.call and attempt.call.result:
        told += attempt.call.result
    return _EXECUTION_ID.findall(told)
