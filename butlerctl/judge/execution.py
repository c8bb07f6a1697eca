"""One n8n execution: which workflow, whether it ran to its end, what Google answered, and what it failed of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.evidence import Document


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a workflow failed: the check that it breaks, and n8n's or Google's words."""

    check: str
    words: str


# The first that fits. n8n's message, Google's reason and description, and the status stand in one text.
_CAUSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "credential.decrypts",
        ("could not be decrypted", "encryption ?key", "bad decrypt", "wrong final block"),
    ),
    (
        "credential.exists",
        ("does not exist for type", "credential.{0,40}(not found|does not exist|was deleted)"),
    ),
    ("lint.env_access", ("access to env vars denied", "N8N_BLOCK_ENV_ACCESS")),
    (
        "google.accepted",
        (
            "rate ?limit",
            "quota",
            "too many requests",
            "accessNotConfigured",
            "SERVICE_DISABLED",
            "has not been used in project",
        ),
    ),
    (
        "credential.token_valid",
        (
            "invalid_grant",
            "(invalid|deleted|unauthorized)_client",
            "needs to be reconnected",
            "authorization grant",
            "reconnect_needed",
            "expired or revoked",
            "token_(expired|revoked)",
            "Unable to sign without access token",
            "Authorization failed",
            "Client authentication failed",
            "UNAUTHENTICATED",
            "invalid (authentication )?credentials",
            "re-?auth(ori[sz]e|enticate)?",
            r"\bEAUTH\b",
            r"\bHTTP 401\b",
        ),
    ),
    (
        "credential.scope",
        (
            "insufficient.{0,30}(scope|permission)",
            "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
            "writer access",
            "does not have permission",
            "PERMISSION_DENIED",
            "requiredAccessLevel",
            r"\bforbidden\b",
            r"\bHTTP 403\b",
        ),
    ),
    (
        "google.accepted",
        (
            "time ?range ?(is )?empty",
            "backend ?error",
            "could not be found",
            "bad request",
            "request is invalid",
            "identifier already exists",
            "not able to process your request",
            "service unavailable",
            "connection to the server was closed",
            "unable to parse range",
            "sheet with name",
            "invalid date",
            "requested entity was not found",
            "answer of Google could not be used",
            r"\bHTTP [45]\d\d\b",
            "Google API",
        ),
    ),
)
_PATTERNS = tuple((check, re.compile("|".join(words), re.IGNORECASE)) for check, words in _CAUSES)
_GOOGLE_NODE = re.compile(r"google|calendar|tasks|sheets|gmail", re.IGNORECASE)
_NOT_GOOGLE = re.compile(r"format|respond|check|webhook|set|code|if\b|mark", re.IGNORECASE)
_SHOWN = 200


def cause_of_words(words: str) -> Cause | None:
    """The cause that an error text names, or None when it names neither a credential nor Google."""
    for check, pattern in _PATTERNS:
        if pattern.search(words):
            return Cause(check, _shown(words))
    return None


@dataclass(frozen=True, slots=True)
class Execution:
    """A document of kind `execution`."""

    document: Document

    @property
    def ended_well(self) -> bool:
        return self.document.get("status") == "success"

    @property
    def cause(self) -> Cause | None:
        """Why it failed, also when a node hid the failure and the execution counts as a success."""
        errors = list(self._errors())
        for words, by_google in errors:
            found = cause_of_words(words)
            if found and (by_google or not found.check.startswith("google.")):
                return found
        told = next((words for words, by_google in errors if by_google), None)
        return Cause("google.accepted", _shown(told)) if told else None

    @property
    def google_items(self) -> tuple[Mapping[str, Any], ...] | None:
        """What the Google node handed on, None when it is not recorded or the node failed."""
        for name, runs in _run_data(self.document).items():
            output = _last_output(runs)
            if _GOOGLE_NODE.search(name) and not _NOT_GOOGLE.search(name) and output:
                first = output[0] if isinstance(output[0], list) else []
                failed = len(output) > 1 and bool(output[1])
                return None if failed else tuple(_json_of(item) for item in first)
        return None

    @property
    def request_body(self) -> Any:
        """The body that the Webhook node received, None when it is not recorded."""
        for item in self._webhook_items():
            return item.get("body")
        return None

    @property
    def webhook_url(self) -> str:
        return next((str(item.get("webhookUrl") or "") for item in self._webhook_items()), "")

    def carries(self, word: str) -> bool:
        """Does the request that this execution received hold the word (a canary's nonce)?"""
        return bool(word) and word in json.dumps(self.request_body, ensure_ascii=False)

    def _webhook_items(self) -> Iterator[Mapping[str, Any]]:
        for runs in _run_data(self.document).values():
            for output in _last_output(runs)[:1]:
                for item in output if isinstance(output, list) else []:
                    if "webhookUrl" in _json_of(item):
                        yield _json_of(item)

    def _errors(self) -> Iterator[tuple[str, bool]]:
        """Error texts, each with: did a node that talks to Google say it?"""
        document = self.document
        if document.get("error"):
            yield (
                _words(document["error"]),
                _talks_to_google(str(document.get("node") or ""), document["error"]),
            )
        data = document.get("data")
        for name, runs in _run_data(document).items():
            for words in _errors_of_node(runs):
                yield words, _talks_to_google(name, None)
        result = data.get("resultData") if isinstance(data, Mapping) else None
        if isinstance(result, Mapping) and result.get("error"):
            error = result["error"]
            node = error.get("node") if isinstance(error, Mapping) else None
            told = node.get("name") if isinstance(node, Mapping) else result.get("lastNodeExecuted")
            yield _words(error), _talks_to_google(str(told or ""), error)


def _talks_to_google(node: str, error: Any) -> bool:
    """A node's name tells; an error of the kind that only API nodes raise tells as well."""
    if isinstance(error, Mapping) and (error.get("httpCode") or error.get("name") == "NodeApiError"):
        return True
    return bool(_GOOGLE_NODE.search(node)) and not _NOT_GOOGLE.search(node)


def _run_data(document: Document) -> Mapping[str, Any]:
    """Node name -> its runs, from n8n's own data or from the short form `{node: {error}}`."""
    data = document.get("data")
    if not isinstance(data, Mapping):
        return {}
    result = data.get("resultData")
    runs = result.get("runData") if isinstance(result, Mapping) else data
    return runs if isinstance(runs, Mapping) else {}


def _errors_of_node(runs: Any) -> Iterator[str]:
    if isinstance(runs, Mapping):
        if runs.get("error"):
            yield _words(runs["error"])
        return
    for run in runs if isinstance(runs, list) else []:
        if isinstance(run, Mapping) and run.get("error"):
            yield _words(run["error"])
    for output in _last_output(runs):
        for item in output if isinstance(output, list) else []:
            if _json_of(item).get("error"):
                yield _words(_json_of(item)["error"])


def _last_output(runs: Any) -> list[Any]:
    run = runs[-1] if isinstance(runs, list) and runs else None
    data = run.get("data") if isinstance(run, Mapping) else None
    main = data.get("main") if isinstance(data, Mapping) else None
    return main if isinstance(main, list) else []


def _json_of(item: Any) -> Mapping[str, Any]:
    value = item.get("json") if isinstance(item, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _words(error: Any) -> str:
    """All that an error says, in one text: its status first."""
    if not isinstance(error, Mapping):
        return str(error)
    status = error.get("httpCode") or error.get("code") or error.get("statusCode")
    parts = [f"HTTP {status}:" if status else ""]
    for key in (
        "message",
        "reason",
        "description",
        "messages",
        "body",
        "error",
        "error_description",
        "status",
    ):
        value = error.get(key)
        if value:
            parts.append(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return " ".join(part for part in parts if part)


def _shown(words: str) -> str:
    """The beginning of an error text, without the JSON that repeats it."""
    plain = re.split(r"\s[\[{]", words, maxsplit=1)[0]
    return (plain or words)[:_SHOWN]
