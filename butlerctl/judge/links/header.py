"""`header`: is the right header accepted, and a wrong or missing one refused?"""

from __future__ import annotations

from collections.abc import Mapping

from butlerctl.evidence import Document
from butlerctl.inventory.operations import Route
from butlerctl.judge import answer, routes
from butlerctl.judge.answer import Answer, Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.requests import is_preflight, is_without_key, key_headers, request_of, response_of

_RAN = frozenset({Kind.JSON, Kind.EMPTY, Kind.NOT_JSON, Kind.INVALID_ARGS})
_NO_CREDENTIAL = "no authentication data defined"
_OF_N8N = (_NO_CREDENTIAL, "authorization data is wrong", "authorization is required", "whitelist")

_NOT_N8N = (
    'n8n refuses a key with the plain words "Authorization data is wrong!". Something in front of it said this: look'
    " there, the key is not at fault."
)
_ADDRESS = "The caller's address is not on the webhook's IP list: add it there, the key is not at fault."
_CREDENTIAL_GONE = "The Webhook node's header credential does not exist in n8n: choose it there again."
_BOTS = 'The webhook has "Ignore Bots" on, and the plugin\'s user agent counts as one: switch it off.'
_OTHER_CREDENTIAL = "The live Webhook node works with another header credential than the export: choose the export's credential there."
_NO_KEY = "The gateway sent no key header at all: set the webhook secret on its side."
_OTHER_KEY = (
    "butlerctl's own request with the inventory's key is let in: the gateway sends another key, or none, or a proxy"
    " between drops the header. Set the webhook secret on the gateway's side first."
)
_PROXY = (
    "The same request passes without the proxy: the proxy in between drops the header (nginx drops names with"
    " underscores). Keep the key, change the proxy or the header's name."
)
_KEY_OF_N8N = (
    "butlerctl's own request with the inventory's key is refused as well: the webhook's header credential in n8n has"
    " another value, or another name, than the inventory."
)


def judge(case: Case) -> Finding:
    probes = [item for item in case.probes if not is_preflight(item) and not item.get("skipped")]
    authorised = [item for item in probes if not is_without_key(item)]
    return (
        _refused(case, authorised)
        or _let_in([item for item in probes if is_without_key(item)])
        or _open_by_design(case)
        or _proof(case, probes)
    )


def _refused(case: Case, authorised: list[Document]) -> Finding | None:
    found = case.answer
    if found is None or found.kind is not Kind.REFUSED:
        refusals = [item for item in _last_by_address(authorised) if _is_refusal(answer.of_exchange(item))]
        found = answer.of_exchange(refusals[0]) if refusals else found
    if found is None or not _is_refusal(found):
        return None
    return broken(
        "header.accepted",
        f"an authorised request was refused: {found.words}",
        found.document,
        expected="the request is let in",
        advice=_advice(case, found, [answer.of_exchange(item) for item in authorised]),
    )


def _is_refusal(found: Answer) -> bool:
    return found.kind is Kind.REFUSED or (found.kind is Kind.STATUS and _NO_CREDENTIAL in found.words.lower())


def _last_by_address(documents: list[Document]) -> list[Document]:
    return list({str(request_of(item).get("url")): item for item in documents}.values())


def _advice(case: Case, found: Answer, probes: list[Answer]) -> str:
    """The first that applies. `probes` are the answers to butlerctl's own requests with the right key."""
    words, names = found.words.lower(), key_headers(found.document)
    watched = found.document.get("kind") == "exchange"
    others_pass = any(other.kind in _RAN for other in probes)
    applies = {
        _NOT_N8N: watched and not _in_n8ns_words(found),
        _ADDRESS: any(word in words for word in ("whitelist", "ip is not", "allow")),
        _CREDENTIAL_GONE: _NO_CREDENTIAL in words,
        _BOTS: any(_ignores_bots(item) for item in (*case.live, *case.exports)),
        _OTHER_CREDENTIAL: _credentials(case.live) - _credentials(case.exports)
        != set()
        != _credentials(case.exports),
        _NO_KEY: watched and not names,
        _OTHER_KEY: not watched and others_pass,
        _PROXY: others_pass or any("_" in name for name in names),
        _KEY_OF_N8N: bool(probes) and all(map(_is_refusal, probes)),
    }
    return next((advice for advice, fits in applies.items() if fits), "")


def _in_n8ns_words(found: Answer) -> bool:
    """Also where no body was kept: then nothing speaks against it."""
    said = str(response_of(found.document).get("body") or "").lower()
    return not said or any(words in said for words in _OF_N8N)


def _ignores_bots(document: Document) -> bool:
    options = [node["parameters"].get("options") for node in routes.webhook_nodes(document.get("document"))]
    return any(isinstance(option, Mapping) and option.get("ignoreBots") is True for option in options)


def _credentials(documents: tuple[Document, ...]) -> set[str]:
    """The ids of the header credentials of what is served, or was exported."""
    nodes = [node for item in documents for node in routes.webhook_nodes(routes.served(item.get("document")))]
    held = [node.get("credentials") for node in nodes]
    entries = [each.get("httpHeaderAuth") for each in held if isinstance(each, Mapping)]
    return {str(entry.get("id")) for entry in entries if isinstance(entry, Mapping)}


def _let_in(keyless: list[Document]) -> Finding | None:
    for document in keyless:
        found = answer.of_exchange(document)
        if found.kind in _RAN:
            return broken(
                "header.negative_probe",
                f"a request without the right key was let in: {found.words or found.kind}",
                document,
                expected="403 without the auth header",
            )
    return None


def _open_by_design(case: Case) -> Finding | None:
    """The published workflow asks for no key; without a request to judge, its file tells as well."""
    alone = case.bundle.intent is None and not case.live
    for document in case.exports if alone else case.live:
        for node in routes.webhook_nodes(routes.served(document.get("document"))):
            if "path" in node["parameters"] and node["parameters"].get("authentication", "none") == "none":
                seen = "the Webhook node asks for no authentication"
                return broken("header.negative_probe", seen, document, expected="headerAuth")
    return None


def _proof(case: Case, probes: list[Document]) -> Finding:
    """Both sides: one refused without the right key, one let in with it."""
    refused = [
        item for item in probes if is_without_key(item) and answer.of_exchange(item).kind is Kind.REFUSED
    ]
    passed = [
        item
        for item in probes
        if not is_without_key(item) and answer.of_exchange(item).kind in _RAN | {Kind.STATUS}
    ]
    accepted = [
        attempt.answer.document for attempt in case.attempts if attempt.answer and attempt.answer.kind in _RAN
    ]
    accepted += [execution.document for execution in case.executions]
    if refused and (passed or accepted):
        return proven(
            "header.negative_probe",
            "refused without the key, let in with it",
            refused[0],
            *(passed or accepted)[-1:],
        )
    return unproven("header.negative_probe", _gap(case.route, refused=bool(refused)))


def _gap(route: Route, *, refused: bool) -> str:
    return f"no request with the right key to {route}" if refused else f"no probe of {route} without the key"
