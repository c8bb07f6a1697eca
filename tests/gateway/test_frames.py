"""Any frame that a gateway may send: the client answers, or says one typed error; nobody waits for a dead reader."""

from __future__ import annotations

import contextlib
import json
import threading
import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_openclaw_websocket import MADE, ROWS, TOOLS
from test_websocket import gateway

from butlerctl.errors import ButlerctlError
from butlerctl.gateway.interface import TurnRecord
from butlerctl.gateway.openclaw_websocket import WebSocketGateway
from butlerctl.gateway.operator import Operator

SECONDS = 5
NAMES = st.sampled_from(
    ["type", "event", "id", "ok", "payload", "error", "runId", "stream", "data", "status", "messages", "groups",
     "tools", "result", "payloads", "text", "meta", "executionTrace", "role", "content", "toolCallId", "phase",
     "details", "retryAfterMs", "code", "message", "server", "version", "arguments", "partialArgs", "stopReason"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["res", "event", "agent", "connect.challenge", "tool", "start", "result", "accepted", "ok", "assistant",
     "toolResult", "toolCall", "error", "", "\ud800"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
CALL = {"phase": "start", "name": "add_task", "toolCallId": "c1", "args": {"a": 1}}
TEMPLATES = (
    {"type": "event", "event": "agent", "payload": {"runId": "x", "stream": "tool", "data": CALL}},
    {"type": "res", "id": "x", "ok": False, "error": {"code": "x", "message": "y", "details": {"code": "z"}}},
    {"type": "event", "event": "connect.challenge", "payload": {"nonce": "n"}},
)


def places(value, above=()):
    """The path of every part of a frame."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [
        *([above] if above else []),
        *(path for name, item in inner for path in places(item, (*above, name))),
    ]


def spoil(draw, value):
    """The value, but for one part: that is something else, or missing."""
    spoilt = json.loads(json.dumps(value))
    *way, last = draw(st.sampled_from(places(spoilt)))
    holder = spoilt
    for name in way:
        holder = holder[name]
    if draw(st.booleans()):
        del holder[last]
    else:
        holder[last] = draw(VALUES)
    return spoilt


@st.composite
def almost(draw):
    """A frame as the gateway sends it, but for one part."""
    return spoil(draw, draw(st.sampled_from(TEMPLATES)))


FRAMES = st.one_of(almost(), almost(), almost(), st.dictionaries(NAMES, VALUES, max_size=5), VALUES)
NO_FRAMES = st.sampled_from(["", "{", "no json", '{"type":"res"', "[1,"])
TEXTS = st.integers(0, 9).flatmap(lambda dice: NO_FRAMES if dice == 0 else FRAMES.map(json.dumps))
GOOD = {
    "sessions.create": MADE,
    "tools.effective": TOOLS,
    "agent": {"status": "ok", "result": {"payloads": [{"text": "Done."}]}},
    "sessions.get": {"messages": ROWS},
    "sessions.delete": {"ok": True, "deleted": True},
}
OFTEN = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def serving(answer):
    """A gateway that greets, and lets `answer` deal with every request until it hangs up."""

    def script(wire):
        wire.greet()
        with contextlib.suppress(Exception):  # the client is gone
            while True:
                answer(wire, wire.take())

    return script


@contextlib.contextmanager
def no_thread_dies():
    died, before = [], threading.excepthook
    threading.excepthook = died.append
    try:
        yield
    finally:
        threading.excepthook = before
    assert died == []


@OFTEN
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    odd=st.sampled_from(["agent", "agent", *sorted(GOOD)]),
    rows=st.sampled_from([[], ROWS]),
)
def test_strange_frames_between_the_answers_end_in_a_record_or_in_one_typed_error(texts, odd, rows):
    """A frame about "x" is one about the request, or the run, that is waited for."""
    good = {**GOOD, "sessions.get": {"messages": rows}}

    def answer(wire, request):
        for text in texts if request["method"] == odd else ():
            about = text.replace('"id": "x"', f'"id": "{request["id"]}"')
            wire.give_text(
                about.replace('"runId": "x"', f'"runId": "{request["params"].get("idempotencyKey")}"')
            )
        wire.answer(request, good[request["method"]])

    started = time.monotonic()
    with no_thread_dies(), gateway(serving(answer)) as url, contextlib.suppress(ButlerctlError):
        client = WebSocketGateway(url, "token", agent="butler", timeout=SECONDS)
        with contextlib.closing(client):
            assert isinstance(client.ask("Add x.", session="s1"), TurnRecord)
    assert time.monotonic() - started < SECONDS


@OFTEN
@given(payload=VALUES, odd=st.sampled_from(sorted(GOOD)), ok=st.booleans() | st.none(), error=VALUES)
def test_a_strange_answer_to_any_request_ends_in_a_record_or_in_one_typed_error(payload, odd, ok, error):
    def answer(wire, request):
        if request["method"] == odd:
            wire.give(type="res", id=request["id"], ok=ok, payload=payload, error=error)
            wire.answer(request, GOOD[odd])  # the end of a turn that was accepted; else nobody waits for it
        else:
            wire.answer(request, GOOD[request["method"]])

    with no_thread_dies(), gateway(serving(answer)) as url, contextlib.suppress(ButlerctlError):
        client = WebSocketGateway(url, "token", agent="butler", timeout=SECONDS)
        with contextlib.closing(client):
            assert isinstance(client.ask("Add x.", session="s1"), TurnRecord)


ASKED = {
    "agents.list": lambda operator: operator.agents(),
    "sessions.create": lambda operator: operator.create_session("a", "k"),
    "sessions.delete": lambda operator: operator.delete_session("k"),
    "sessions.get": lambda operator: operator.session_rows("k"),
    "sessions.usage": lambda operator: operator.given_tools("k"),
    "tools.effective": lambda operator: operator.effective_tools("k"),
    "tools.invoke": lambda operator: operator.invoke_tool("a", "k", "add_task", {}, SECONDS),
    "config.get": lambda operator: operator.config(),
    "config.schema.lookup": lambda operator: operator.plugin_entry("p"),
    "health": lambda operator: operator.health(),
    "cron.status": lambda operator: operator.cron.enabled(),
    "cron.add": lambda operator: operator.cron.add_idle_job("a", "n", "m", SECONDS),
    "cron.list": lambda operator: operator.cron.jobs(),
    "cron.runs": lambda operator: operator.cron.last_run("j"),
}
ANSWERS = {
    "agents.list": {"defaultId": "a", "agents": [{"id": "a"}]},
    "sessions.create": {**MADE, "entry": {"sessionFile": "f"}},
    "sessions.delete": {"deleted": True},
    "sessions.get": {"messages": [{"role": "user"}]},
    "sessions.usage": {
        "sessions": [{"contextWeight": {"tools": {"entries": [{"name": "a", "schemaHash": "b"}]}}}]
    },
    "tools.effective": {"groups": [{"tools": [{"id": "a", "pluginId": "p"}]}]},
    "tools.invoke": {"ok": False, "output": {"details": {}}, "error": {"code": "x", "message": "y"}},
    "config.get": {"config": {}},
    "config.schema.lookup": {
        "hint": {"label": "l", "help": "h"},
        "children": [{"key": "k", "type": "string"}],
    },
    "health": {"ok": True},
    "cron.status": {"enabled": True},
    "cron.add": {"id": "j"},
    "cron.list": {
        "jobs": [
            {"id": "j", "payload": {"fallbacks": ["m"], "toolsAllow": ["t"]}, "schedule": {"kind": "at"}}
        ],
        "nextOffset": 1,
    },
    "cron.runs": {"entries": [{"ts": 1, "runAtMs": 2, "status": "ok"}]},
}


@st.composite
def almost_answer(draw):
    """A method, and its answer as the gateway gives it, but for one part."""
    method = draw(st.sampled_from(sorted(ANSWERS)))
    return method, spoil(draw, ANSWERS[method])


@settings(OFTEN, max_examples=120)
@given(almost_answer())
def test_an_answer_that_is_wrong_in_one_part_is_read_or_is_one_typed_error(odd):
    method, wrong = odd

    def answer(wire, request):
        wire.answer(request, wrong if request["method"] == method else ANSWERS[request["method"]])

    known = contextlib.suppress(ButlerctlError)
    with no_thread_dies(), gateway(serving(answer)) as url, Operator.connect(url, "token") as operator, known:
        ASKED[method](operator)


def test_every_answer_of_the_right_shape_is_read():
    """Also one that names the same next page for ever."""

    def answer(wire, request):
        wire.answer(request, ANSWERS[request["method"]])

    with gateway(serving(answer)) as url, Operator.connect(url, "token") as operator:
        for ask in ASKED.values():
            ask(operator)


@OFTEN
@given(
    payload=VALUES, ok=st.booleans() | st.none(), error=st.dictionaries(NAMES, VALUES, max_size=4) | VALUES
)
def test_a_strange_greeting_ends_in_a_connection_or_in_one_typed_error(payload, ok, error):
    def script(wire):
        wire.give(type="event", event="connect.challenge", payload=payload)
        wire.give(type="res", id=wire.take()["id"], ok=ok, payload=payload, error=error)

    with no_thread_dies(), gateway(script) as url, contextlib.suppress(ButlerctlError):
        Operator.connect(url, "token").close()
