"""The tap changes nothing: what arrives upstream is what was sent, and half a request does not arrive."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
import zlib
from contextlib import contextmanager

import httpx
import pytest
import trustme
from tap_bench import CALLING, REQUEST, exchange_raw, post, stream, tapped, upstream, wait_until, whole

from butlerctl.errors import BadInput
from butlerctl.gateway.tap import Tap

BODY = json.dumps(REQUEST).encode()


@contextmanager
def bytes_upstream(answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"):
    """An upstream that gives the bytes of each request and answers the same to all."""
    arrived = []

    def serve(listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                arrived.append(connection.recv(65536))
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", arrived
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_the_request_arrives_as_it_was_sent_but_for_the_headers_of_one_hop():
    sent = (
        b"GET //v1/a%2Fb/../models?x=%41&y HTTP/1.1\r\nhOst: tap.test\r\nX-Twice: 1\r\nx-twice: 2\r\n"
        b"Keep-Alive: 9\r\nX-Hop: 1\r\nConnection: close, X-Hop\r\nTE: gzip\r\nX-Umlaut: \xe4\r\n\r\n"
    )
    with bytes_upstream() as (address, arrived), Tap(f"http://{address}/base/", lambda _: None) as tap:
        answer = exchange_raw(tap.url, sent, stay=True)
    assert arrived == [
        b"GET /base//v1/a%2Fb/../models?x=%41&y HTTP/1.1\r\n"
        b"hOst: " + address.encode() + b"\r\nX-Twice: 1\r\nx-twice: 2\r\nX-Umlaut: \xe4\r\n\r\n"
    ]
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def test_no_cookie_of_an_answer_is_sent_by_the_tap_itself():
    cookie = whole(200, "application/json", "{}", Set_Cookie="session=of-the-provider; Path=/")
    with tapped(cookie) as (url, arrived, _seen):
        answers = [post(url, json=REQUEST) for _ in range(2)]
    assert [answer.headers["Set-Cookie"] for answer in answers] == ["session=of-the-provider; Path=/"] * 2
    assert [name for _, headers, _ in arrived for name in headers if name.lower() == "cookie"] == []


PACKED = {
    "gzip": gzip.compress(b'{"ok":true}'),
    "deflate": zlib.compress(b'{"ok":true}'),
    "br": b"\x0b\x05\x80{}\x03",
}


@pytest.mark.parametrize(
    ("asked", "passed_on", "coding", "recorded"),
    [
        ("gzip, deflate", "gzip, deflate", "gzip", {"ok": True}),
        ("br;q=1.0, gzip;q=0.5, *", "gzip;q=0.5", "gzip", {"ok": True}),
        ("br, zstd", "identity", "deflate", {"ok": True}),
        ("deflate", "deflate", "br", "6 bytes in a coding that the tap does not read"),
    ],
)
def test_a_compressed_answer_passes_as_it_is_and_is_recorded_unpacked(asked, passed_on, coding, recorded):
    packed = PACKED[coding]

    def answer(handler, _body):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Encoding", coding)
        handler.send_header("Content-Length", str(len(packed)))
        handler.end_headers()
        handler.wfile.write(packed)

    with tapped(answer) as (url, arrived, seen):
        headers = {"Accept-Encoding": asked}
        with httpx.stream("GET", url, headers=headers, trust_env=False) as got:
            assert b"".join(got.iter_raw()) == packed
    assert arrived[0][1]["Accept-Encoding"] == passed_on
    assert seen[0]["response"]["body"] == recorded


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 500\r\n\r\n" + BODY[:7],
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 500\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: tap.test\r\nAuthorization: Bea",
        b"GET /v1/models HTTP/1.1\r\nHost: tap.test\r\n",
        b"GET /v1/mod",
    ],
    ids=["7 of 500 bytes", "no byte of the body", "inside a header", "after a header", "inside the address"],
)
def test_half_a_request_is_recorded_and_never_passed_on(sent):
    with tapped(whole(200, "application/json", "{}")) as (url, arrived, seen):
        exchange_raw(url, sent)
        wait_until(lambda: seen)
    assert arrived == []
    assert seen[0]["response"]["status"] is None
    assert "not passed on" in seen[0]["response"]["error"]
    assert seen[0]["request"]["body"] == (BODY[:7].decode() if BODY[:7] in sent else "")


REFUSED = {
    b"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n": (411, "Content-Length"),
    b"POST /v1/x HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}": (411, "Content-Length"),
    "POST /v1/x HTTP/1.1\r\nContent-Length: ²\r\n\r\n{}".encode("latin-1"): (411, "Content-Length"),
    b"POST /v1/x HTTP/1.1\r\nContent-Length: 67108865\r\n\r\n{}": (413, "67108864 bytes"),
    b"POST /v1/x HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}": (413, "67108864 bytes"),
    b"POST /v1/x HTTP/1.1\r\nno header at all\r\nContent-Length: 2\r\n\r\n{}": (400, "no header"),
    b"GET http://elsewhere.test/ HTTP/1.1\r\n\r\n": (400, "no proxy"),
    b"BREW /v1/x HTTP/1.1\r\n\r\n": (501, "Not Implemented"),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n": (400, "Bad Request"),
}


@pytest.mark.parametrize(("sent", "refusal"), REFUSED.items(), ids=range(len(REFUSED)))
def test_a_request_that_the_tap_refuses_is_recorded_too(sent, refusal):
    status, words = refusal
    with tapped(whole(200, "application/json", "{}")) as (url, arrived, seen):
        answer = exchange_raw(url, sent, stay=True)
    assert arrived == []
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert b"butlerctl tap: " in answer
    assert len(seen) == 1
    assert seen[0]["response"]["status"] is None
    assert seen[0]["response"]["error"].startswith(f"refused by the tap with {status}: ")
    assert words in seen[0]["response"]["error"]


def test_a_client_that_streams_its_request_is_told_why_it_is_refused():
    with tapped(whole(200, "application/json", "{}")) as (url, _arrived, _seen):
        answer = post(url, content=iter([b"x" * 100_000] * 20))
    assert answer.status_code == 411
    assert "Content-Length" in answer.json()["error"]["message"]


def test_a_client_of_an_older_protocol_gets_no_chunks():
    with tapped(stream(*CALLING)) as (url, _arrived, seen):
        sent = b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
        answer = exchange_raw(url, sent, stay=True)
    assert answer.partition(b"\r\n\r\n")[2] == b"".join(CALLING)
    assert "error" not in seen[0]["response"]


@pytest.mark.parametrize(
    "address",
    ["ftp://127.0.0.1", "http://", "http://[::1", "http://u:invented-pass@h.test/v1", "http://h.test/v1?a=b"],
)
def test_an_address_that_leads_nowhere_or_holds_more_is_refused_without_quoting_a_password(address):
    with pytest.raises(BadInput) as refused:
        Tap(address, print)
    assert "invented-pass" not in refused.value.message + refused.value.hint


def test_an_upstream_whose_answer_is_none_is_a_502_with_the_reason_in_the_record():
    seen = []
    with bytes_upstream(b"nonsense\r\n\r\n") as (address, _), Tap(f"http://{address}", seen.append) as tap:
        assert post(tap.url, json=REQUEST).status_code == 502
    assert seen[0]["response"]["error"] == "BadStatusLine"
    with upstream(lambda *_: None) as (url, _), Tap(f"https://{url[7:]}", seen.append) as tap:
        assert post(tap.url, json=REQUEST).status_code == 502
    assert seen[1]["response"]["error"].startswith("SSLError")


def test_an_upstream_behind_tls_is_reached_and_its_certificate_checked(tmp_path, monkeypatch):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    seen = []
    with upstream(stream(*CALLING), tls=context) as (url, _):
        with Tap(url, seen.append) as tap:
            assert post(tap.url, json=REQUEST).status_code == 502
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        with Tap(url, seen.append) as tap:
            assert post(tap.url, json=REQUEST).content == b"".join(CALLING)
    assert seen[0]["response"]["error"].startswith("SSLCertVerificationError: ")
    assert len(seen[1]["response"]["body"]) == 3


def test_one_connection_carries_several_exchanges_also_without_a_body():
    def answer(handler, body):
        status = 204 if b"nothing" in body else 200
        handler.send_response(status)
        if status == 200:
            handler.send_header("Content-Length", "2")
        handler.end_headers()
        if status == 200 and handler.command != "HEAD":
            handler.wfile.write(b"{}")

    with tapped(answer) as (url, arrived, seen), httpx.Client(base_url=url, trust_env=False) as client:
        answers = [
            client.post("/a", content=b"nothing"),
            client.head("/b"),
            client.post("/c", content=b"x", headers={"Expect": "100-continue"}),
            client.get("/d"),
        ]
    assert [(got.status_code, got.content) for got in answers] == [
        (204, b""), (200, b""), (200, b"{}"), (200, b"{}"),
    ]  # fmt: skip
    assert answers[1].headers["Content-Length"] == "2"
    assert [path for path, _, _ in arrived] == ["/a", "/b", "/c", "/d"]
    assert [exchange["request"]["method"] for exchange in seen] == ["POST", "HEAD", "POST", "GET"]
    assert not [exchange for exchange in seen if "error" in exchange["response"]]
