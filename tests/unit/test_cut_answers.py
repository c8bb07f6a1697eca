"""A secret in an answer that is shown cut: not even its beginning is shown."""

from __future__ import annotations

import pytest
from werkzeug.wrappers import Response

from butlerctl.google.client import Account
from butlerctl.lab.google import WRITE_SCOPES, Answer, Fault, GoogleEmulator, OAuthClient
from butlerctl.lab.server import LoopbackServer
from butlerctl.n8n.webhooks import Key, Target, Webhooks

SECRET = "Kv7-2nUq9-wX4c-Lm0pZ-tR8y"


def begun(shown: int) -> bytes:
    """A text in which the secret begins ten characters before the place where it is cut."""
    return ("x" * (shown - 10) + SECRET + " and more").encode()


@pytest.mark.parametrize("status", [200, 500])
def test_of_a_webhooks_text(status):
    with (
        LoopbackServer(Response(begun(20_000), status)) as server,
        Webhooks(Target(server.url, "X-L4CK3Y-Auth", SECRET, "tests", 5)) as webhooks,
    ):
        body = webhooks.post("L4CK3Y/calendar/add/wife", {}, Key.NONE)["response"]["body"]
    assert body.endswith("xxx<redacted>")


def test_of_googles_page():
    emulator = GoogleEmulator()
    emulator.add_user("wife@example.test")
    grant = emulator.grant("wife@example.test", client=OAuthClient("butlerctl", SECRET), scopes=WRITE_SCOPES)
    emulator.faults.plant(
        Fault("calendar.events.list", Answer(404, begun(200), content_type="text/html"), work=0)
    )
    with (
        LoopbackServer(emulator) as server,
        Account("wife", grant.authorized_user(), url=server.url, retries=0) as account,
    ):
        answer = account.read(account.events().list(calendarId="wife@example.test"))
    assert answer.body.endswith("xxx<redacted>")
