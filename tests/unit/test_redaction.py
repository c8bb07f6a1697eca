from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from butlerctl import redaction
from butlerctl.redaction import MASK, is_secret_name, redact, redact_cut, redact_text, register_secret

PLANTED = "Planted-Secret/77+x"


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch):
    monkeypatch.setattr(redaction, "_registered", set())
    monkeypatch.setattr(redaction, "_registered_forms", None)


PEM = "-----BEGIN PRIVATE KEY-----\nMIGHplanted\n-----END PRIVATE KEY-----\n"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJl"
BASIC = "Basic " + base64.b64encode(f"butler:{PLANTED}".encode()).decode()

# One document of each kind that butlerctl holds, with a secret that nobody registered.
DOCUMENTS = {
    "exchange": {"kind": "exchange", "request": {"method": "POST", "headers": {"X-L4CK3Y-Auth": PLANTED}}},
    "exchange with any header": {"request": {"headers": {"x-house-auth": PLANTED, "X-API-KEY": PLANTED}}},
    "exchange with a list of values": {
        "response": {"headers": {"Set-Cookie": [f"n8n-auth={PLANTED}; Secure"]}}
    },
    "exchange with pairs": {"request": {"headers": [["Authorization", f"Bearer {PLANTED}"], ["Host", "h"]]}},
    "exchange with raw headers": {"rawHeaders": ["Host", "h", "x-l4ck3y-auth", PLANTED]},
    "exchange with a query": {"request": {"url": f"http://n8n.test/webhook?access_token={PLANTED}&limit=5"}},
    "exchange with userinfo": {"request": {"url": "https://butler:pLaNtEd@n8n.test/webhook/a"}},
    "exchange with an error": {"response": {"error": f"refused: header X-L4CK3Y-Auth: {PLANTED}"}},
    "received_request": {
        "kind": "received_request",
        "headers": {"x-l4ck3y-auth": PLANTED, "host": "n8n.test"},
    },
    "echo in a body": {"body": json.dumps({"headers": {"x-l4ck3y-auth": PLANTED}, "body": {"limit": 5}})},
    "echo in a body of a body": {"body": json.dumps({"text": json.dumps({"refresh_token": PLANTED})})},
    "execution": {
        "data": {
            "resultData": {
                "runData": {
                    "Webhook": [{"data": {"main": [[{"json": {"headers": {"x-l4ck3y-auth": PLANTED}}}]]}}]
                }
            },
            "resumeToken": PLANTED,
        }
    },
    "execution with a stack": {
        "error": {"stack": f"Error at x\n  headers: {{ 'x-l4ck3y-auth': '{PLANTED}' }}"}
    },
    "workflow_live": {
        "document": {
            "nodes": [{"parameters": {"headers": [{"name": "Authorization", "value": f"Bearer {PLANTED}"}]}}]
        }
    },
    "workflow_export": {"document": {"staticData": {"node:Trigger": {"accessToken": PLANTED}}}},
    "workflow_export as text": {"text": '{"name": "x", "headerAuth": {"token":   "' + PLANTED + '",'},
    "credentials_live": {
        "document": {"data": [{"id": "c1", "data": {"clientSecret": PLANTED, "apiKey": PLANTED}}]}
    },
    "credential with a token object": {"oauthTokenData": {"token": {"value": PLANTED, "expires": 3600}}},
    "readback": {
        "kind": "readback",
        "body": {"error": {"message": "invalid ya29.a0AfH6SMBplanted-token_77"}},
    },
    "readback of a refresh": {"body": {"access_token": PLANTED, "expires_in": 3599, "id_token": JWT}},
    "transcript": {
        "messages": [{"role": "assistant", "content": f"I sent Authorization: Bearer {PLANTED} for you."}]
    },
    "transcript with arguments": {
        "tool_calls": [{"function": {"name": "f", "arguments": '{"api_key": "' + PLANTED + '", "limit": 5}'}}]
    },
    "plugin_inspect": {
        "document": {"config": {"apiKey": PLANTED, "password": PLANTED, "passphrase": PLANTED}}
    },
    "log": {
        "kind": "log",
        "lines": [
            f"N8N_WEBHOOK_SECRET={PLANTED} node server.js",
            f"curl -H 'X-L4CK3Y-Auth: {PLANTED}' http://n8n.test",
            f"Cookie: session={PLANTED}; theme=dark",
            f"httpx.Headers([(b'x-l4ck3y-auth', b'{PLANTED}')])",
            BASIC,
            f"password: {PLANTED}",
            "token=planted",
            f'"x-l4ck3y-auth": ["{PLANTED}"]',
        ],
    },
    "settings": {
        "scope": "n8n",
        "values": {"version": "2.30.8", "N8N_ENCRYPTION_KEY": PLANTED, "pwd": 77123456},
    },
    "key in a log": {"lines": [PEM, json.dumps({"private_key": PEM}), PEM[:40]]},
    "key of a vendor": {
        "lines": ["sk-or-v1-77plantedplanted77", "GOCSPX-planted_planted77", JWT, f"Bearer {JWT}"]
    },
}
SURVIVORS = ("Planted", "planted", "pLaNtEd", "MIGH", "77123456", JWT[:12], BASIC[6:])


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_no_planted_secret_survives_in_any_kind_of_document(document):
    written = json.dumps(redact(document))
    assert not [part for part in SURVIVORS if part in written], written


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_redacting_twice_is_redacting_once(document):
    assert redact(redact(document)) == redact(document)


# Which field of an object is the secret, only the structure tells.
IN_TEXT = DOCUMENTS.keys() - {"credential with a token object"}


@pytest.mark.parametrize("document", [DOCUMENTS[kind] for kind in sorted(IN_TEXT)], ids=sorted(IN_TEXT))
def test_a_document_is_as_safe_when_it_is_written_into_a_text(document):
    for text in (json.dumps(document), json.dumps(json.dumps(document))):
        written = redact_text(text)
        assert "pLaNtEd" not in written
        assert "Planted" not in written, written


HARMLESS = [
    {"nonce": "BTLR-7Q2M4X9KPA", "summary": "BTLR-7Q2M4X9KPA", "id": "Vt9mXz0qLr3e8K1a"},
    {"versionId": "0b6f8a52-3f0e-4c57-9f0d-6b7f6a1f0e11", "digest_saved": "ab" * 32},
    {"nextPageToken": "CkAKMAou", "pageToken": "CkAKMAou", "nextSyncToken": "CPDAlvWDx70CEPDA"},
    {"url": "https://www.googleapis.com/calendar/v3/calendars/a%40b.c/events?pageToken=CkAKMAou"},
    {"token_of": "wife", "usage": {"prompt_tokens": 812, "max_tokens": 512}},
    {"authentication": "headerAuth", "credentials": {"httpHeaderAuth": {"id": "c1", "name": "household"}}},
    {"credentials": {"googleCalendarOAuth2Api": {"id": "<WIFE_CALENDAR_CRED_ID>", "name": "wife"}}},
    {"headers": {"X-L4CK3Y-Auth": "<redacted>"}, "probe": "without_key"},
    {"headers": {"X-L4CK3Y-Auth": "<wrong>"}, "probe": "wrong_key"},
    {"headers": {"X-L4CK3Y-Auth": ""}},
    {"google_token": "${BUTLERCTL_GOOGLE_TOKEN_WIFE}", "secret": "file:secrets/webhook"},
    {"text": "token: ${N8N_API_KEY} is not set; secret: file:/run/key; X-Auth: <redacted>"},
    {"summary": "Basic groceries list", "title": "Basic photography certification course"},
    {"title": "Cookies: chocolate and oat", "notes": "cookie: chocolate", "list": "Secret: Anna's present"},
    {"title": "buy tokens: 3 for the laundry", "text": "Unexpected token < in JSON at position 0"},
    {"hint": "the secret is wrong: compare N8N_WEBHOOK_SECRET with the credential in n8n"},
    {"hint": "give the n8n credential a living token: reconnect it"},
    {"start": "2026-12-01T15:00:00-05:00", "url": "http://127.0.0.1:5678//webhook//L4CK3Y/calendar/add/wife"},
    {"body": '{"token": "", "secret": null, "password": false}'},
    {"name": "token", "type": "string", "default": "none"},
    {"required": ["token", "calendar"], "enum": ["husband", "wife"]},
    {"properties": {"token": {"type": "string", "description": "a page"}}},
    {"values": ["2026-12-01", "milk", 4.2], "ok": True, "error": None, "password": None, "secret": False},
    {"arguments": '{"title": "butler check BTLR-29XPVMWJWT", "due": "2026-12-14"}'},
    {"check": "harness.reader_token", "link": "credential"},
    {"message": 'The requested webhook "POST L4CK3Y/calendar/add/husband" is not registered.'},
]


@pytest.mark.parametrize("document", HARMLESS, ids=lambda document: next(iter(document)))
def test_what_the_judge_needs_stays_as_it_is(document):
    assert redact(document) == document


def test_a_secret_in_a_title_is_masked_alike_wherever_the_title_stands():
    title = "wifi password: Sommer2026!"
    arguments = redact({"arguments": json.dumps({"title": title})})["arguments"]
    assert json.loads(arguments)["title"] == redact(title) == "wifi password: <redacted>"


@pytest.mark.parametrize(
    "name", ["X-L4CK3Y-Auth", "refresh_token", "apiKey", "API-KEY", "N8N_API_KEY", "pwd"]
)
def test_names_of_secrets_are_known_in_every_spelling(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["author", "nextPageToken", "token_of", "tokens", "keyid", "monkey", "nonce"]
)
def test_names_that_only_look_alike_are_left(name):
    assert not is_secret_name(name)


def ways_to_write(secret):
    yield secret
    yield json.dumps(secret)
    yield json.dumps(secret, ensure_ascii=False)
    yield json.dumps(json.dumps({"x": secret}))
    yield json.dumps(secret).replace("/", "\\/")
    yield "".join(f"\\u{ord(sign):04X}" if sign in "<>&'\"+" else sign for sign in secret)
    yield "".join(f"&#{ord(sign)};" if sign in "<>&'\"" else sign for sign in secret)
    yield quote(secret, safe="").lower() if secret.islower() else quote(secret, safe="")
    yield html.escape(secret)
    yield quote(secret, safe="")
    yield quote_plus(secret)
    for before in ("", "a", "ab", "butler:"):
        encoded = base64.b64encode(f"{before}{secret} and more".encode())
        yield encoded.decode()
        yield base64.urlsafe_b64encode(f"{before}{secret} and more".encode()).decode()


SECRET_CHARACTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="~")
SECRET_TEXT = st.text(SECRET_CHARACTERS, min_size=12, max_size=24)


@given(secret=SECRET_TEXT, around=st.sampled_from(["", "~", "~~ "]))
@example(secret="00000000000&", around="")
@example(secret="00000000000%", around="")
@example(secret="0000000000\\\\", around="")
@settings(max_examples=60, deadline=None)
def test_a_registered_secret_is_masked_however_it_is_written(secret, around):
    redaction._registered, redaction._registered_forms = set(), None
    register_secret(secret)
    for written in ways_to_write(secret):
        masked = redact_text(f"{around}{written}{around}")
        assert MASK in masked
        assert secret not in masked
    for written in (secret, json.dumps(secret)[1:-1], html.escape(secret), quote(secret, safe="")):
        assert redact_text(f"{around}{written}{around}") == f"{around}{MASK}{around}"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.just(PLANTED),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_a_registered_secret_leaves_no_trace_in_any_document(document):
    redaction._registered, redaction._registered_forms = set(), None
    register_secret(PLANTED)
    written = redact({"a": document, PLANTED: document})
    assert PLANTED not in json.dumps(written)
    assert redact(written) == written


def test_the_fields_of_a_registered_google_token_are_secrets_of_their_own():
    register_secret(
        json.dumps({"client_id": "public-id", "client_secret": "s3cr3t-a", "refresh_token": "t0k3n-b"})
    )
    masked = redact_text("refresh t0k3n-b with s3cr3t-a for public-id")
    assert masked == f"refresh {MASK} with {MASK} for public-id"


@pytest.mark.parametrize("around", ["{}\n", " {}\r\n", "\t{}"])
def test_a_secret_with_blanks_around_it_is_masked_as_a_header_carries_it(around):
    register_secret(around.format("n3wline-secret"))
    assert redact_text("echo: n3wline-secret.") == f"echo: {MASK}."
    assert redact({"a": "n3wline-secret"}) == {"a": MASK}


@pytest.mark.parametrize("end", ["s3cret-w", "s3cr", "s3cret-with-tai"])
def test_a_text_that_broke_off_inside_a_secret_does_not_end_with_its_beginning(end):
    register_secret("s3cret-with-tail")
    assert redact_cut(f"got {end}") == f"got {MASK}"
    assert redact_cut("got s3c") == "got s3c"
    assert redact_cut(f"{end} is not at the end") == f"{end} is not at the end"


def test_a_number_that_is_a_registered_secret_is_masked():
    register_secret("8472")
    assert redact({"pin": 8472, "other": 8473}) == {"pin": MASK, "other": 8473}


def test_the_longer_of_two_secrets_is_masked_whole():
    register_secret("abcd")
    register_secret("abcd-efgh")
    assert redact_text("x abcd-efgh y abcd z") == f"x {MASK} y {MASK} z"


def test_a_secret_that_is_too_short_is_not_masked_everywhere():
    register_secret("abc")
    register_secret("")
    assert redact_text("abc alphabet") == "abc alphabet"


def test_a_very_long_line_of_assignments_is_masked_too():
    masked = redact_text("token=a1b2 " * 20_000)
    assert masked == f"token={MASK} " * 20_000


@given(st.text(alphabet=" \n\"'\\:=,;<>{}[]tokensecretauthorizationBearer019-_", max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_the_redactor_stumble_or_change_its_mind(text):
    once = redact_text(text)
    assert redact_text(once) == once
