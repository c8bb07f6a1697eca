"""No credential that passes a tap is in its record: not in pieces, not in an echo, not where an answer breaks off."""

from __future__ import annotations

import base64
import gzip
import itertools
import json

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tap_bench import KEY, REQUEST, chunk, post, stream, tapped, upstream, whole

from butlerctl.gateway.tap import Tap
from butlerctl.gateway.tap_record import EvidenceFolder
from butlerctl.gateway.tap_stream import redact_stream
from butlerctl.redaction import MASK, redact_text, register_secret

UNKNOWN = "sk-or-v1-0123456789abcdef0123456789"
END = (chunk({}, "stop"), b"data: [DONE]\n\n")


def arguments(text, index=0, **more):
    return {"tool_calls": [{"index": index, **more, "function": {"arguments": text}}]}


def in_pieces(secret, delta_of, size=5):
    return [chunk(delta_of(secret[at : at + size])) for at in range(0, len(secret), size)]


STREAMS = {
    "text": lambda secret: in_pieces(f"My key is {secret}.", lambda text: {"content": text}),
    "one character at a time": lambda secret: in_pieces(secret, lambda text: {"content": text}, 1),
    "thoughts": lambda secret: in_pieces(secret, lambda text: {"reasoning_content": text}),
    "arguments": lambda secret: [
        chunk(arguments("", id="call_1", function={"name": "add_task", "arguments": ""})),
        *in_pieces(json.dumps({"profile": "wife", "title": secret}), arguments),
    ],
    "arguments of two calls in turn": lambda secret: [
        piece
        for first, second in zip(
            in_pieces(json.dumps({"a": secret}), arguments),
            in_pieces(json.dumps({"b": secret}), lambda text: arguments(text, 1)),
            strict=True,
        )
        for piece in (first, second)
    ],
    "after its name": lambda secret: in_pieces(
        f"Authorization: Bearer {secret}", lambda text: {"content": text}
    ),
}


@pytest.mark.parametrize("secret", [KEY, UNKNOWN], ids=["the request's key", "a key of a known kind"])
@pytest.mark.parametrize("pieces", STREAMS.values(), ids=STREAMS.keys())
def test_a_key_that_is_streamed_in_pieces_is_in_no_document(tmp_path, pieces, secret):
    folder, seen = EvidenceFolder(tmp_path), []

    def keep(exchange):
        seen.append(exchange)
        folder.record(exchange)

    with upstream(stream(*pieces(secret), *END)) as (url, _), Tap(url, keep) as tap:
        post(tap.url, json=REQUEST)
    (file,) = tmp_path.iterdir()
    document = json.loads(file.read_text(encoding="utf-8"))
    message = document["messages"][-1]
    told = json.dumps(message) + texts_of(seen[0]["response"]["body"]) + json.dumps(seen)
    assert [part for part in (secret, secret[:12], secret[-12:]) if part in told] == []
    assert [part for part in (secret[:12], secret[-12:]) if part in file.read_text(encoding="utf-8")] == []
    assert "content" in message


def texts_of(events):
    """All that the pieces say, joined as a reader would join them."""
    texts = [""] * 4
    for event in events:
        delta = event["choices"][0]["delta"]
        texts[0] += delta.get("content") or ""
        texts[1] += delta.get("reasoning_content") or ""
        for call in delta.get("tool_calls", ()):
            texts[2 + call["index"]] += call["function"]["arguments"]
    return "\n".join(texts)


def test_what_is_no_secret_stays_in_the_piece_in_which_it_came():
    register_secret("s3cret-in-two-pieces")
    events = [{"t": "Here "}, {"t": "it is: s3cret-in"}, {"t": "-two"}, {"t": "-pieces, b"}, {"t": "ye."}]
    hidden = redact_stream([{"n": 1, **event} for event in events])
    assert [event["t"] for event in hidden] == ["Here ", f"it is: {MASK}", "", ", b", "ye."]
    assert {event["n"] for event in hidden} == {1}
    assert events[1] == {"t": "it is: s3cret-in"}


@given(st.text("ab -:", max_size=12), st.text("ab -:", max_size=12), st.lists(st.integers(0, 40), max_size=6))
@settings(max_examples=80, deadline=None)
def test_however_a_stream_is_cut_its_text_is_that_of_the_whole(before, after, cuts):
    register_secret("S3CRET-0123456789")
    text = f"{before}S3CRET-0123456789{after}S3CRET-0123456789"
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [{"t": text[start:end]} for start, end in itertools.pairwise(ends)]
    hidden = redact_stream(pieces)
    assert len(hidden) == len(pieces)
    assert "".join(event["t"] for event in hidden) == redact_text(text)


CREDENTIALS = {
    "X-L4CK3Y-Auth": "invented-webhook-secret",
    "api-key": "invented-azure-key",
    "x-api-key": "invented-anthropic-key",
    "X-Goog-Api-Key": "invented-google-key",
    "X-Functions-Key": "invented-functions-key",
    "Proxy-Authorization": "Digest invented-digest",
    "Authorization": "invented-bare-key",
    "X-Amz-Security-Token": "invented-amz-token",
    "X-Session-Id": "invented-session-id",
    "Cookie": "theme=dark; n8n-auth=invented-cookie-value",
}


@pytest.mark.parametrize(("name", "value"), CREDENTIALS.items(), ids=CREDENTIALS.keys())
def test_an_answer_that_echoes_a_credential_of_the_request_is_recorded_without_it(name, value):
    secret = value.rpartition(" ")[2].rpartition("=")[2]
    words = f"what is {secret}? In the theme dark."
    with tapped(whole(403, "text/plain", words)) as (url, arrived, seen):
        httpx.post(f"{url}/webhook/x", headers={name: value}, json={"title": "x"}, trust_env=False)
    assert {key.lower(): sent for key, sent in arrived[0][1].items()}[name.lower()] == value
    assert secret not in json.dumps(seen)
    assert seen[0]["response"]["body"] == f"what is {MASK}? In the theme dark."


def test_the_password_of_basic_authorization_and_the_key_of_a_query_are_credentials_too():
    basic = base64.b64encode(b"butler:invented-pass").decode()
    words = f"{basic} invented-pass invented-query-key"
    with tapped(whole(403, "text/plain", words)) as (url, _arrived, seen):
        headers = {"Authorization": f"Basic {basic}"}
        httpx.get(f"{url}/x?key=invented-query-key", headers=headers, trust_env=False)
    assert seen[0]["response"]["body"] == f"{MASK} {MASK} {MASK}"
    assert seen[0]["request"]["url"].endswith(f"/x?key={MASK}")


def test_a_cookie_that_the_answer_sets_is_a_credential():
    answer = whole(
        200, "text/plain", "you are invented-sid", Set_Cookie="sid=invented-sid; Domain=house.test"
    )
    with tapped(answer) as (url, _arrived, seen):
        httpx.get(f"{url}/x", headers={"X-Where": "house.test"}, trust_env=False)
    assert "invented-sid" not in json.dumps(seen)
    assert seen[0]["request"]["headers"]["X-Where"] == "house.test"


def test_an_answer_that_breaks_off_inside_the_key_does_not_end_with_its_first_part():
    def answer(handler, _body):
        handler.send_response(401)
        handler.send_header("Content-Type", "text/plain")
        handler.send_header("Content-Length", "500")
        handler.end_headers()
        handler.wfile.write(f"bad key {KEY[:15]}".encode())
        handler.close_connection = True

    with tapped(answer) as (url, _arrived, seen), pytest.raises(httpx.RemoteProtocolError):
        post(url, json=REQUEST)
    assert seen[0]["response"]["body"] == f"bad key {MASK}"


def test_a_stream_that_breaks_off_inside_the_key_keeps_no_part_of_it():
    event = chunk({"content": KEY[8:]})
    with tapped(stream(chunk({"content": KEY[:8]}), event[: event.index(KEY[8:].encode()) + 9])) as (
        url,
        _,
        seen,
    ):
        post(url, json=REQUEST)
    body = json.dumps(seen[0]["response"]["body"])
    assert KEY[:8] not in body
    assert KEY[8:17] not in body


def test_a_stream_that_is_called_something_else_or_compressed_is_read_as_one_all_the_same():
    pieces = STREAMS["text"](KEY)

    def plain(handler, _body):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/plain")
        handler.send_header("Content-Length", str(sum(map(len, pieces))))
        handler.end_headers()
        handler.wfile.write(b"".join(pieces))

    packed = gzip.compress(b"".join(pieces))

    def compressed(handler, _body):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(packed)))
        handler.end_headers()
        handler.wfile.write(packed)

    lines = [json.dumps({"message": {"content": KEY[at : at + 6]}}) for at in range(0, len(KEY), 6)]
    for answer in (plain, compressed, whole(200, "application/x-ndjson", "\n".join(lines))):
        with tapped(answer) as (url, _arrived, seen):
            post(url, json=REQUEST)
        body = seen[0]["response"]["body"]
        assert isinstance(body, list)
        assert MASK in json.dumps(body)
        assert KEY[-8:] not in json.dumps(body).replace('"', "")
