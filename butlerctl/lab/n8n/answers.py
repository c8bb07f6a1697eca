"""What the stand-in puts on the wire: n8n's own texts, and the pages of what may stand in front of it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from butlerctl.lab.n8n.expressions import to_json

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"

_REASONS = {
    200: "OK",
    201: "Created",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    422: "Unprocessable Entity",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
_ACTIVE_HINT = (
    "The workflow must be active for a production URL to run successfully. You can activate the workflow using "
    "the toggle in the top-right of the editor. Note that unlike test URL calls, production URL calls aren't "
    "shown on the canvas (only in the executions list)"
)
_TEST_HINT = (
    "Click the 'Execute workflow' button on the canvas, then try again. (In test mode, the webhook only works "
    "for one call after you click this button)"
)
_FRAME = (
    "\n    at LiveWebhooks.findWebhook (/usr/local/lib/node_modules/n8n/src/webhooks/live-webhooks.ts:241:10)"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. Without `sized` there is no Content-Length and the body goes out in chunks."""

    status: int
    body: bytes = b""
    content_type: str | None = None
    headers: tuple[tuple[str, str], ...] = field(default=())
    sized: bool = True

    def send(self, start_response: StartResponse) -> Iterable[bytes]:
        headers = [*self.headers]
        if self.content_type:
            headers.append(("Content-Type", self.content_type))
        if self.sized and self.status != 204:
            headers.append(("Content-Length", str(len(self.body))))
        start_response(f"{self.status} {_REASONS.get(self.status, 'Unknown')}", headers)
        return [self.body] if self.body else []


def json_answer(status: int, document: Any) -> Answer:
    return Answer(status, to_json(document).encode(), JSON)


def with_tag(answer: Answer) -> Answer:
    """With the entity tag that Express gives a body of n8n's own: its length and a hash of it."""
    digest = base64.b64encode(hashlib.sha1(answer.body, usedforsecurity=False).digest()).decode()[:27]
    tag = ("ETag", f'W/"{len(answer.body):x}-{digest}"')
    return replace(answer, headers=(*answer.headers, tag)) if answer.sized and answer.body else answer


def page(status: int, text: str) -> Answer:
    return Answer(status, text.encode(), HTML)


def _fault(status: int, code: int, message: str, hint: str = "") -> Answer:
    """n8n's error document, with the stack trace that it shows outside of NODE_ENV=production."""
    document: dict[str, Any] = {"code": code, "message": message}
    if hint:
        document["hint"] = hint
    return json_answer(status, {**document, "stacktrace": f"ResponseError: {message}{_FRAME}"})


def not_registered(method: str, path: str) -> Answer:
    """404-A: nobody knows this path, or its workflow is not active."""
    return _fault(404, 404, f'The requested webhook "{method} {path}" is not registered.', _ACTIVE_HINT)


def wrong_method(method: str, known: str) -> Answer:
    """404-B."""
    text = f"This webhook is not registered for {method} requests. Did you mean to make a {known} request?"
    return _fault(404, 404, text)


def stale_registration(workflow_id: str) -> Answer:
    """404-C: unpublished or overwritten beside the running server."""
    return _fault(404, 404, f'Active version not found for workflow with id "{workflow_id}"')


def no_test_webhook(path: str) -> Answer:
    return _fault(404, 404, f'The requested webhook "{path}" is not registered.', _TEST_HINT)


def bad_body(hint: str) -> Answer:
    return _fault(422, 422, "Failed to parse request body", hint)


def broken(message: str) -> Answer:
    """A 500 of n8n itself: `No Respond to Webhook node found in the workflow` and its kind."""
    return _fault(500, 0, message)


def _plain(status: int, text: str) -> Answer:
    headers = (("WWW-Authenticate", 'Basic realm="Webhook"'),)
    return Answer(status, text.encode(), headers=headers, sized=False)


REFUSED = _plain(403, "Authorization data is wrong!")
NO_AUTH_DATA = _plain(500, "No authentication data defined on node!")
ADDRESS_REFUSED = Answer(403, b"IP is not whitelisted to access the webhook!", sized=False)
TOO_LARGE = broken("There was a problem executing the workflow")
TIMED_OUT = broken("The execution was cancelled because it timed out")
STARTED = json_answer(200, {"message": "Workflow was started"})
ERROR_IN_WORKFLOW = json_answer(500, {"message": "Error in workflow"})
EMPTY = Answer(200, content_type=JSON, sized=False)
"""A node died before the respond node, or the respond node was not reached."""


def cannot(method: str, path: str) -> Answer:
    return page(404, _express_page(f"Cannot {method} {html.escape(path)}"))


def preflight_refused(text: str, allowed: str) -> Answer:
    frame = "<br> &nbsp; &nbsp;at LiveWebhooks.findWebhook (/usr/local/lib/node_modules/n8n/src/webhooks/live-webhooks.ts:241:10)"
    body = _express_page(f"ResponseError: {html.escape(text)}{frame}")
    return Answer(500, body.encode(), HTML, (("Access-Control-Allow-Methods", allowed),))


def _express_page(text: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n'
        f"<body>\n<pre>{text}</pre>\n</body>\n</html>\n"
    )


def editor_page(version: str) -> Answer:
    """`GET /`: the editor, whose meta tag gives the version away to anybody."""
    sentry = json.dumps(
        {"dsn": "", "environment": "development", "release": f"n8n@{version}"}, separators=(",", ":")
    )
    tag = base64.b64encode(sentry.encode()).decode()
    return page(
        200,
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="n8n:config:sentry" content="{tag}">\n<title>n8n.io - Workflow Automation</title>\n'
        '</head>\n<body>\n<div id="app"></div>\n</body>\n</html>\n',
    )


def gateway_page(status: int = 502) -> Answer:
    """What nginx says when n8n is down behind it."""
    reason = _REASONS[status]
    return page(
        status,
        f"<html>\r\n<head><title>{status} {reason}</title></head>\r\n<body>\r\n<center><h1>{status} {reason}</h1>"
        "</center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
    )


def sign_in_page() -> Answer:
    """The page of a gate in front of n8n, with a 200."""
    return page(
        200, "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in</body></html>\n"
    )


def redirect(location: str, status: int = 301) -> Answer:
    body = f"<html><head><title>{status} {_REASONS[status]}</title></head><body>nginx</body></html>\r\n"
    return Answer(status, body.encode(), "text/html", (("Location", location),))
