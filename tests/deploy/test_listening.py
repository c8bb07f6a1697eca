"""Where a GET may be sent: nowhere that anything published could run on it."""

from __future__ import annotations

import pytest

from butlerctl.deploy.listening import may_run_on_get, silences
from butlerctl.deploy.server import Held, Server
from butlerctl.inventory.operations import Route
from butlerctl.lab.n8n import N8nStandIn
from butlerctl.lab.server import LoopbackServer
from butlerctl.n8n.webhooks import Target, Webhooks

PATH = "L4CK3Y/calendar/add/husband"
HOOK = "n8n-nodes-base.webhook"


def node(kind=HOOK, **parameters):
    return {"type": kind, "webhookId": "4d5f0a52", "parameters": parameters}


@pytest.mark.parametrize(
    "found",
    [
        node(path=PATH),
        node(path=f"/{PATH}/", httpMethod="GET"),
        node(path=PATH, multipleMethods=True),
        node(path=PATH, multipleMethods=True, httpMethod=["POST", "GET"]),
        node(path=PATH, httpMethod="={{ $json.method }}"),
        node(path="={{ $json.path }}", httpMethod="POST"),
        {**node(path="calendar/:verb/husband"), "webhookId": "L4CK3Y"},
        node("n8n-nodes-base.formTrigger", path=PATH),
        {**node("n8n-nodes-base.formTrigger"), "webhookId": "L4CK3Y"},
    ],
)
def test_a_get_could_run(found):
    assert may_run_on_get(PATH, [{"nodes": [{"type": "n8n-nodes-base.noOp"}, found]}])


@pytest.mark.parametrize(
    "found",
    [
        node(path=PATH, httpMethod="POST"),
        node(path=PATH, multipleMethods=True, httpMethod=["POST", "PUT"]),
        node(path=f"{PATH}s"),
        {**node(path=PATH), "disabled": True},
        {**node(path="calendar/:verb/wife"), "webhookId": "L4CK3Y"},
        node("n8n-nodes-base.formTrigger", path="form"),
        node("n8n-nodes-base.readWriteFile"),
    ],
)
def test_a_get_could_not(found):
    assert not may_run_on_get(PATH, [{"nodes": [found]}, {}])


def test_what_nobody_has_is_told_before_what_is_not_known():
    route = Route("calendar_add", "husband")
    both = {"nodes": [node(path=PATH, httpMethod="POST"), node(path="L4CK3Y/other", httpMethod="POST")]}
    on_get = {"id": "w2", "active": True, "nodes": [node(path=PATH)], "connections": {}}
    n8n = N8nStandIn(google_url="http://127.0.0.1:9")
    with (
        LoopbackServer(n8n.app) as server,
        Webhooks(Target(server.url, "X-L4CK3Y-Auth", "a-key-of-the-lab", "butlerctl", 5.0)) as webhooks,
    ):
        found = silences(webhooks, {route: both}, Server((Held(on_get),), {}))
        alone = silences(webhooks, {route: {"nodes": both["nodes"][:1]}}, Server((Held(on_get),), {}))
    assert found[route].certain
    assert found[route].words.startswith("GET L4CK3Y/other: 404")
    assert not alone[route].certain
    assert alone[route].words.endswith("was not asked: a workflow runs on GET there")
