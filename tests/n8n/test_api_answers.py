"""Who answered in the place of n8n's REST API: n8n's own no is told from that of a gateway, JSON or not."""

from __future__ import annotations

import json

import pytest

from butlerctl.n8n.answers import Kind
from butlerctl.n8n.api_answers import read_answer

JSON = {"content-type": "application/json; charset=utf-8"}
# Body and entity tag as n8n 2.30.8 sent them.
UNKNOWN_ID = (404, '{"message":"Not Found"}', 'W/"17-SuRA/yvUWUo8rK6x7dKURLeBo+0"')
UNKNOWN_ENDPOINT = (404, '{"message":"not found"}', 'W/"17-m4r1LcV4pvVDhRunAabPoDm1PiI"')
BAD_BODY = (
    400,
    """{"message":"request/body must have required property 'name'"}""",
    'W/"3d-jDNaczB3zpLWL3ZIyREzZLCRzxE"',
)


def read(status, body, tag="", **headers):
    return read_answer(status, {**JSON, **({"etag": tag} if tag else {}), **headers}, body.encode())


@pytest.mark.parametrize("recorded", [UNKNOWN_ID, UNKNOWN_ENDPOINT, BAD_BODY])
def test_n8ns_own_no_is_known_by_its_entity_tag(recorded):
    found = read(*recorded)
    assert (found.foreign, found.status) == ("", recorded[0])
    assert found.message == json.loads(recorded[1])["message"]


def test_an_unknown_id_is_told_from_an_unknown_endpoint():
    assert (read(*UNKNOWN_ID).is_unknown_id, read(*UNKNOWN_ID).is_unknown_endpoint) == (True, False)
    assert (read(*UNKNOWN_ENDPOINT).is_unknown_id, read(*UNKNOWN_ENDPOINT).is_unknown_endpoint) == (
        False,
        True,
    )


@pytest.mark.parametrize(
    "tag", ["", 'W/"17-anotherHashOfAnotherBody0+x"', '"17"', 'W/"18-SuRA/yvUWUo8rK6x7dKURLeBo+0"']
)
def test_the_same_words_without_n8ns_tag_are_somebody_elses(tag):
    found = read(*UNKNOWN_ID[:2], tag)
    assert not found.is_unknown_id
    assert found.foreign == 'answer of something other than n8n, status 404 ({"message":"Not Found"})'


def test_a_proxy_that_compresses_may_mark_the_tag():
    assert read(*UNKNOWN_ID[:2], 'W/"17-SuRA/yvUWUo8rK6x7dKURLeBo+0-gzip"').is_unknown_id


@pytest.mark.parametrize(
    ("status", "body", "headers", "words"),
    [
        (401, '{"message":"Unauthorized"}', JSON, "answer of something other than n8n, status 401"),
        (403, '{"message":"Forbidden"}', JSON, "answer of something other than n8n, status 403"),
        (404, '{"detail":"Not Found"}', JSON, "answer of something other than n8n, status 404"),
        (404, "404 page not found", {"content-type": "text/plain"}, "(404 page not found)"),
        (401, "401 Unauthorized", {}, "answer of something other than n8n, status 401"),
        (502, '{"message":"Bad Gateway"}', JSON, "answer of a proxy, status 502"),
        (504, '{"error":"upstream timed out"}', JSON, "answer of a proxy, status 504"),
        (503, "", {}, "answer of a proxy, status 503"),
        (200, "OK", {"content-type": "text/plain"}, "answer of something other than n8n, status 200 (OK)"),
        (200, "null", JSON, "answer of something other than n8n, status 200 (null)"),
        (200, "", JSON, "answer of something other than n8n, status 200"),
    ],
)
def test_a_gateways_answer_is_named_for_what_it_is(status, body, headers, words):
    found = read_answer(status, headers, body.encode())
    assert words in found.foreign
    assert (found.message, found.document) == ("", None)


def test_words_of_a_gateway_are_short_and_without_a_secret():
    found = read_answer(502, {}, b'{"detail": "Bearer abcdefghijklmnop' + b"x" * 5000 + b'"}')
    assert "abcdefgh" not in found.foreign
    assert len(found.foreign) < 200


@pytest.mark.parametrize(
    ("status", "headers", "body", "tag"),
    [
        (200, {"content-type": "text/html; charset=utf-8"}, "n8n is starting up. Please wait", 'W/"1f-mLaR3Gmxo33cuwMmHVCxDQf9bcU"'),
        (503, JSON, '{"code":503,"message":"Database is not ready!"}', 'W/"2f-GuSfCgzbbSBfa3Yc/aJYw7SBm0c"'),
    ],
)  # fmt: skip
def test_a_starting_n8n_and_one_without_its_database_are_not_ready(status, headers, body, tag):
    assert read_answer(status, headers | {"etag": tag}, body.encode()).kind is Kind.NOT_READY
    assert read_answer(status, headers, body.encode()).foreign
