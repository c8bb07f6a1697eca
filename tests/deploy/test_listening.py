"""Where a GET may be sent: nowhere that anything published could run on it."""

from __future__ import annotations

import pytest

from butlerctl.deploy.listening import may_run_on_get

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
