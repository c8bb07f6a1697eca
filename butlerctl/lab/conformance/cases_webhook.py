"""A good call, and a webhook that does not do its part."""

from __future__ import annotations

from werkzeug import Response

from butlerctl.lab.conformance.case import Case, Right
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.script import native
from butlerctl.lab.conformance.servers import Behaviour, answer_json, answer_text, keep_waiting, reset

PLUGIN_SECONDS = 2.0
"""How long the plugin waits in the conformance run."""

_NOT_REGISTERED = {
    "code": 404,
    "message": 'The requested webhook "POST L4CK3Y/calendar/add/wife" is not registered.',
    "hint": "The workflow must be active for a production URL to run successfully.",
}
_GOOGLE_ERROR = {
    "ok": False,
    "error": {"code": "google_error", "message": "Quota exceeded"},
    "execution": "17",
}


def _webhook(case_id: str, title: str, behaviour: Behaviour) -> Case:
    return Case(
        case_id, "webhook", title, Right.FAILS, EVENT, lambda it: [native(it.call())], webhook=behaviour
    )


def _redirect(_request: object) -> Response:
    return Response(status=302, headers={"Location": "/elsewhere"})


WEBHOOK_CASES = (
    _webhook("hook_403", "403 of n8n", answer_text(403, "Authorization data is wrong!", None)),
    _webhook("hook_404", "404, not registered", answer_json(404, _NOT_REGISTERED)),
    _webhook("hook_500", "500 of n8n", answer_json(500, {"message": "Error in workflow"})),
    _webhook("hook_502", "502 of a proxy", answer_text(502, "<h1>Bad Gateway</h1>", "text/html")),
    _webhook("hook_google", "502 of the workflow: Google refused", answer_json(502, _GOOGLE_ERROR)),
    _webhook(
        "hook_says_no", "200 that says ok: false", answer_json(200, {"ok": False, "error": "invalid_grant"})
    ),
    _webhook(
        "hook_started", "200 that was only started", answer_json(200, {"message": "Workflow was started"})
    ),
    _webhook(
        "hook_code", "200 with a code 403 in it", answer_json(200, {"code": 403, "message": "Forbidden"})
    ),
    _webhook(
        "hook_page", "200 with a page", answer_text(200, "<html><body>Sign in</body></html>", "text/html")
    ),
    _webhook("hook_empty", "200 that is empty", answer_text(200, "", "application/json")),
    _webhook("hook_redirect", "a redirect", _redirect),
    _webhook("hook_reset", "the connection is reset after the request", reset),
    _webhook("hook_silent", "no answer in time", keep_waiting(PLUGIN_SECONDS + 1)),
)
