"""What an answer at the address of n8n's REST API is: n8n's own word, or that of something in its place. Pure.

n8n says no with `{"message": …}` as JSON and nothing beside it. So do gateways: Kong and Amazon's say
`{"message":"Unauthorized"}` and `{"message":"Not Found"}` as well. What tells n8n's is the entity tag that its HTTP
library, Express, gives every answer: the length of the body and a hash of it (seen on 1.123.81, 2.27.4, 2.30.8 and
2.41.1, for every status). A success is known by its shape, which only the caller knows.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.n8n.answers import STARTING, Kind, classify
from butlerctl.redaction import redact_text

_SHOWN = 120
_NOT_READY = "Database is not ready!"


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """`foreign` says what it is when it is not n8n's own, and is empty when it is.

    `message` is n8n's own, redacted. `document` is the JSON of a success or a refusal. `tagged`: it has the entity tag
    of n8n's library.
    """

    status: int
    document: Any = None
    message: str = ""
    kind: Kind = Kind.JSON
    foreign: str = ""
    tagged: bool = False

    @property
    def is_unknown_id(self) -> bool:
        """n8n knows the endpoint, and nothing of this id."""
        return self.status == 404 and self.message in ("Not Found", "Version not found")

    @property
    def is_unknown_endpoint(self) -> bool:
        """n8n knows no such path below `/api/v1` at all."""
        return self.status == 404 and self.message == "not found"


def read_answer(status: int, headers: Mapping[str, str], body: bytes) -> ApiAnswer:
    """`headers` in any case of their names."""
    text = body.decode("utf-8", errors="replace")
    names = {name.lower(): value for name, value in headers.items()}
    document, own = _json(names, text), _is_express(names, body)
    if document is not None and 200 <= status < 300:
        return ApiAnswer(status, document, tagged=own)
    if own and text.strip() == STARTING:
        return ApiAnswer(status, message=STARTING, kind=Kind.NOT_READY, tagged=own)
    message = _message(document) if own and status >= 400 else None
    if message is None:
        return _foreign(status, names, text)
    kind = Kind.NOT_READY if message == _NOT_READY else Kind.FAULT
    return ApiAnswer(status, document, redact_text(message), kind, tagged=own)


def _json(headers: Mapping[str, str], text: str) -> Any:
    """The document of an answer that says that it is JSON; None for everything else, `null` included."""
    if "json" not in headers.get("content-type", ""):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(document: Any) -> str | None:
    """The text of an error document of the API, or of n8n's server around it; None for anybody else's."""
    if not isinstance(document, dict) or not isinstance(document.get("message"), str):
        return None
    beside = document.keys() - {"message", "issues"}
    of_the_server = "code" in beside and beside <= {"code", "hint", "meta", "stacktrace"}
    return document["message"] if not beside or of_the_server else None


def _is_express(headers: Mapping[str, str], body: bytes) -> bool:
    """Does the entity tag fit the body? A proxy that compresses may have added a word to it."""
    digest = base64.b64encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()[:27]
    return headers.get("etag", "").removeprefix("W/").removeprefix('"').startswith(f"{len(body):x}-{digest}")


def _foreign(status: int, headers: Mapping[str, str], text: str) -> ApiAnswer:
    kind = classify(status, headers, text, method="GET").kind
    if kind.by_n8n:  # a webhook's word; nothing of n8n's API says it
        kind = Kind.FOREIGN
    what = str(kind)
    if kind is Kind.PAGE and "<pre>Cannot " in text:
        kind, what = Kind.EDITOR, "a server like n8n's that has no such address"
    if kind is Kind.REDIRECT:
        what += f" to {redact_text(headers.get('location', '?'))}"
    said = "" if kind in (Kind.REDIRECT, Kind.EDITOR, Kind.PAGE) else _words(text)
    return ApiAnswer(status, kind=kind, foreign=f"{what}, status {status}{said}")


def _words(text: str) -> str:
    """The beginning of what a gateway said, in one line."""
    shown = " ".join(redact_text(text[: 10 * _SHOWN]).split())
    return f" ({shown[:_SHOWN]})" if shown and not shown.startswith("<") else ""
