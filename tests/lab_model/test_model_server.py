"""The model over real sockets, honest and not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from model_household import COUPLE, offered, rules

from butlerctl.errors import UsageProblem
from butlerctl.gateway.http import client_for
from butlerctl.inventory.operations import Route
from butlerctl.lab.model.misbehave import KINDS
from butlerctl.lab.model.server import MODEL_NAME, LabModel
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.leaks import find_leaks
from butlerctl.protocol.tools import household_tools
from butlerctl.protocol.wires.openai_chat import read

PROMPT = "Add 'Tennis' to the wife's calendar on 4 July 2027 from 10:00 to 11:00."
ARGUMENTS = {"profile": "wife", "summary": "Tennis", "start": "2027-07-04T10:00:00-04:00", "end": "2027-07-04T11:00:00-04:00"}  # fmt: skip
TASK = "Add the task 'Plants' for the husband, due 4 July 2027."
CREATED = {"ok": True, "data": {"id": "e1", "summary": "Tennis", "start": {"dateTime": "2027-07-04T14:00:00Z"}, "end": {"dateTime": "2027-07-04T15:00:00Z"}}}  # fmt: skip


class Served:
    def __init__(self, model: LabModel, client: httpx.Client) -> None:
        self.model = model
        self.client = client

    def ask(self, *messages: dict[str, Any], **more: Any) -> httpx.Response:
        body = {"model": MODEL_NAME, "messages": [rules("2026-07-08", "America/New_York"), *messages], **more}
        return self.client.post("/v1/chat/completions", json={"tools": offered(COUPLE), **body})

    def message(self, *messages: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = self.ask(*messages).json()["choices"][0]["message"]
        return message


@pytest.fixture
def served() -> Iterator[Served]:
    model = LabModel()
    with LoopbackServer(model.app) as server, client_for(server.url, base_url=server.url) as client:
        yield Served(model, client)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answered(answer: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    function = {"name": "add_calendar_event", "arguments": json.dumps(ARGUMENTS)}
    call = {"id": "c1", "type": "function", "function": function}
    return (
        user(PROMPT),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(answer)},
    )


def calls_of(message: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", [])
    ]


def test_a_request_becomes_one_structured_call(served: Served) -> None:
    document = served.ask(user(PROMPT)).json()
    assert document["choices"][0]["finish_reason"] == "tool_calls"
    ((name, arguments),) = calls_of(document["choices"][0]["message"])
    assert (name, json.loads(arguments)) == ("add_calendar_event", ARGUMENTS)
    assert document["usage"]["total_tokens"] > 0


def test_the_stream_says_the_same_as_the_whole_answer(served: Served) -> None:
    response = served.ask(user(PROMPT), stream=True, stream_options={"include_usage": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    assert chunks[-1]["usage"]["total_tokens"] > 0
    assert len(chunks) > 6
    (streamed,) = read([*chunks, "[DONE]"]).calls
    assert streamed.complete
    assert json.loads(streamed.arguments.text) == ARGUMENTS  # type: ignore[union-attr]


def test_nothing_of_the_lab_reaches_the_model_but_the_request(served: Served) -> None:
    without_tools = served.ask(user(PROMPT), tools=[])
    assert "not given the tool" in without_tools.json()["choices"][0]["message"]["content"]


def test_models_are_listed_and_unknown_paths_and_bodies_refused(served: Served) -> None:
    models = served.client.get("/v1/models").json()
    assert [model["id"] for model in models["data"]] == [MODEL_NAME]
    assert served.client.get("/v1/other").status_code == 404
    assert served.client.get("/v1/chat/completions").status_code == 405
    for body in ("", "[]", '{"messages": 5}', '{"messages": ["x"]}'):
        refused = served.client.post("/v1/chat/completions", content=body)
        assert refused.status_code == 400
        assert refused.json()["error"]["type"] == "invalid_request_error"


def test_a_wrong_key_is_refused() -> None:
    with LoopbackServer(LabModel(api_key="the-right-key").app) as server:
        for key, status in (("Bearer the-right-key", 200), ("Bearer another", 401), ("", 401)):
            headers = {"Authorization": key}
            assert (
                httpx.get(f"{server.url}/v1/models", headers=headers, trust_env=False).status_code == status
            )


def test_what_is_planted_on_a_route_leaves_the_others_honest_until_it_is_cleared(served: Served) -> None:
    served.model.plant("narrates", Route("calendar_add", "wife"))
    assert calls_of(served.message(user(PROMPT))) == []
    assert len(calls_of(served.message(user(PROMPT.replace("wife", "husband"))))) == 1
    assert len(calls_of(served.message(user(TASK)))) == 1
    served.model.clear()
    assert len(calls_of(served.message(user(PROMPT)))) == 1


def test_an_unknown_misbehaviour_cannot_be_planted() -> None:
    with pytest.raises(UsageProblem, match="no such thing"):
        LabModel().plant("no such thing")


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.moment == "ask"])
def test_each_misbehaviour_of_asking_differs_from_the_honest_call(served: Served, kind: str) -> None:
    honest = served.message(user(PROMPT))
    served.model.plant(kind)
    assert served.message(user(PROMPT)) != honest
    assert calls_of(served.message(user(PROMPT))) != calls_of(honest)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.moment == "report"])
def test_each_misbehaviour_of_reporting_differs_from_the_honest_report(served: Served, kind: str) -> None:
    honest = served.message(*answered(CREATED))
    served.model.plant(kind)
    assert served.message(*answered(CREATED)) != honest
    assert len(calls_of(served.message(user(PROMPT)))) == 1


@pytest.mark.parametrize(
    ("kind", "leak"),
    [("convention_text", "convention_line"), ("harmony_text", "harmony"), ("dsml_text", "dsml")],
)
def test_calls_written_as_text_are_known_leaks(served: Served, kind: str, leak: str) -> None:
    served.model.plant(kind)
    text = served.message(user(PROMPT))["content"]
    assert leak in find_leaks(text, [tool.name for tool in household_tools(COUPLE)])


def test_a_false_success_is_told_although_the_tool_failed(served: Served) -> None:
    served.model.plant("false_success")
    text = served.message(*answered({"ok": False, "error": "http_status", "message": "HTTP status 403."}))[
        "content"
    ]
    assert text.startswith("Done")


def test_a_wrong_claim_tells_another_hour(served: Served) -> None:
    served.model.plant("wrong_claim")
    assert "11:00 to 12:00" in served.message(*answered(CREATED))["content"]


@pytest.mark.parametrize(("kind", "status"), [("provider_429", 429), ("provider_500", 500)])
def test_a_failing_provider_answers_with_its_status(served: Served, kind: str, status: int) -> None:
    served.model.plant(kind)
    response = served.ask(user(PROMPT))
    assert response.status_code == status
    assert response.json()["error"]["message"]


def test_a_provider_can_fail_only_after_the_call(served: Served) -> None:
    served.model.plant("provider_429_after_call")
    assert served.ask(user(PROMPT)).status_code == 200
    assert served.ask(*answered(CREATED)).status_code == 429
