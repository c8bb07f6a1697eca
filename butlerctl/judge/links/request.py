"""`request`: does the request leave the gateway, and does n8n itself answer it in time?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import answer, values
from butlerctl.judge.answer import Answer, Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.requests import is_preflight, is_without_key, response_of, sent_body

_BROKEN = {
    Kind.TIMEOUT: "request.timeout",
    Kind.REDIRECT: "request.no_redirect",
    Kind.NO_REPLY: "request.reaches_n8n",
    Kind.GATEWAY: "request.reaches_n8n",
    Kind.PAGE: "request.reaches_n8n",
    Kind.NOT_SENT: "request.reaches_n8n",
    Kind.UNREADABLE: "request.args_carried",
}
_IN_TIME_MS = 15_000


def judge(case: Case) -> Finding:
    found = case.answer
    if found and not case.usable(found):
        bad = _not_answered(case, found)
        if bad:
            return bad
    return _arguments_lost(case) or _carried(case)


def _not_answered(case: Case, found: Answer) -> Finding | None:
    redirected = any(item.kind is Kind.REDIRECT for item in _chain(case))
    check = "request.no_redirect" if redirected else _BROKEN.get(found.kind)
    if check is None or (found.kind is Kind.PAGE and any(item.ended_well for item in case.executions)):
        return None
    seen = next(item for item in _chain(case) if item.kind is Kind.REDIRECT) if redirected else found
    return broken(
        check,
        f"{seen.kind}: {_words(seen)}",
        seen.document,
        expected="an answer of n8n itself within 15 s",
        advice=_advice(seen),
    )


def _chain(case: Case) -> list[Answer]:
    return [attempt.answer for attempt in case.attempts if attempt.answer]


def _words(found: Answer) -> str:
    location = answer.header(response_of(found.document).get("headers"), "location")
    return f"{found.words} to {location}" if location else found.words


def _advice(found: Answer) -> str:
    words = found.words.lower()
    if "refused" in words:
        return "Nothing listens there: start n8n or correct the port."
    if "notfound" in words or "getaddrinfo" in words or "eai_again" in words:
        return "The host's name is not known to the gateway: correct the base address of n8n."
    return ""


def _arguments_lost(case: Case) -> Finding | None:
    """Does the body lack or change what the call carried?"""
    sent, body = _sent(case)
    call = case.right[-1] if case.right else (case.last.call if case.last else None)
    carried = call.ran if call and call.ran else case.asked
    lost = [key for key in carried if key != "profile" and _is_lost(key, carried[key], body, case)]
    if sent is None or body is None or not lost:
        return None
    return broken(
        "request.args_carried",
        "the body has " + ", ".join(f"{key} = {_shown(_value(body, key))}" for key in lost),
        sent,
        expected=", ".join(f"{key} = {_shown(carried[key])}" for key in lost),
    )


def _sent(case: Case) -> tuple[Document | None, Mapping[str, Any] | None]:
    """The last request of the plugin and its body: as n8n received it, as it was sent, or as n8n recorded it."""
    execution = case.own_execution
    recorded = [(execution.document, execution.request_body)] if execution else []
    exchange = case.last.exchange if case.last else None
    watched = [exchange] if exchange is not None and exchange.get("seen_by") != "probe" else []
    seen = [(item, sent_body(item)) for item in (*case.received[-1:], *watched)] + recorded
    bodies = ((document, _object(body, document["kind"])) for document, body in seen)
    return next(((document, body) for document, body in bodies if body is not None), (None, None))


def _is_lost(key: str, value: Any, body: Mapping[str, Any] | None, case: Case) -> bool:
    if body is None or value in (None, ""):
        return False
    return not values.same(key, value, _value(body, key), case.zone)


def _value(body: Mapping[str, Any], key: str) -> Any:
    """A value of the body, also one level down: another stack may wrap its arguments."""
    if key in body:
        return body[key]
    inner = [item for item in body.values() if isinstance(item, Mapping) and key in item]
    return inner[0][key] if len(inner) == 1 else None


def _object(body: Any, kind: str) -> Mapping[str, Any] | None:
    """A body as an object; None when it was not recorded. What n8n received as no object carries no argument."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return {} if kind == "received_request" and body else None
    return body if isinstance(body, Mapping) else None


def _carried(case: Case) -> Finding:
    found = case.answer
    attempt = case.last
    if found and attempt and attempt.exchange and found.by_n8n:
        late = found.elapsed_ms is not None and found.elapsed_ms > _IN_TIME_MS
        if not late:
            return proven("request.reaches_n8n", f"n8n answered: {found.words or found.kind}", found.document)
    if case.own_execution:
        return proven("request.args_carried", "n8n ran the request", case.own_execution.document)
    for received in case.received[-1:]:
        return proven("request.args_carried", "n8n received the request with its arguments", received)
    for probe in case.probes:
        if (
            not case.main
            and not is_preflight(probe)
            and not is_without_key(probe)
            and answer.of_exchange(probe).by_n8n
        ):
            return proven("request.reaches_n8n", "n8n answered the probe", probe)
    return unproven(
        "request.reaches_n8n", "neither the exchange nor an execution that carries the request was recorded"
    )


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80] if value is not None else "nothing"
