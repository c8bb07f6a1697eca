"""The lab's gateway over real sockets, with the lab's model: whole requests, and what a faulty plugin does behind it.

What every gateway must do over HTTP and WebSocket is in the contract.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import httpx
import pytest
from contract_n8n import HOUSEHOLD, SECRET, ContractN8n

from butlerctl.errors import UsageProblem
from butlerctl.gateway.http import client_for
from butlerctl.gateway.interface import TurnRecord, fresh_session
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.inventory.operations import Route
from butlerctl.lab.gateway.faults import KINDS
from butlerctl.lab.gateway.server import VERSION, LabGateway
from butlerctl.lab.model.server import LabModel
from butlerctl.lab.server import LoopbackServer

TOKEN = "token-of-the-lab-gateway"
EVENT = "Add 'Tennis' to the wife's calendar on 4 July 2027 from 10:00 to 11:00."
ROUTE = Route("calendar_add", "wife")


class Lab(NamedTuple):
    n8n: ContractN8n
    model: LabModel
    gateway: LabGateway
    client: httpx.Client
    agent: OpenClawGateway

    def ask(self, prompt: str = EVENT, session: str | None = None) -> TurnRecord:
        return self.agent.ask(prompt, session=session or fresh_session())


@pytest.fixture
def lab() -> Iterator[Lab]:
    n8n, model = ContractN8n(), LabModel(api_key="key-of-the-model")
    with LoopbackServer(n8n.app) as webhooks, LoopbackServer(model.app) as provider:
        settings = WebhookToolsSettings(webhooks.url, HOUSEHOLD, "L4CK3Y", secret=SECRET, timeout=2)
        gateway = LabGateway(
            f"{provider.url}/v1",
            settings,
            token=TOKEN,
            agent="butler",
            timezone="America/New_York",
            model_key="key-of-the-model",
        )
        with LoopbackServer(gateway.app) as server:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            agent = OpenClawGateway(server.url, TOKEN, agent="butler", timeout=10)
            with client_for(server.url, base_url=server.url, headers=headers) as client:
                yield Lab(n8n, model, gateway, client, agent)
            agent.close()
        gateway.close()


def results(record: TurnRecord) -> list[dict[str, Any]]:
    return [json.loads(m["content"]) for m in record.transcript["messages"] if m["role"] == "tool"]


def test_a_request_in_plain_words_ends_in_an_object_and_a_true_report(lab: Lab) -> None:
    record = lab.ask()
    assert [item["summary"] for item in lab.n8n.objects["calendar/wife"]] == ["Tennis"]
    assert (
        record.reply
        == "Done: “Tennis” is in wife's calendar, Sunday 4 July 2027, 10:00 to 11:00 (id event1)."
    )
    assert [message["role"] for message in record.transcript["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert results(record)[0]["execution"] == "1"
    assert record.transcript["complete"] is True


@pytest.mark.parametrize(
    ("prompts", "told"),
    [
        (("Add 'Tennis' to the husband's calendar on 4 July 2027 from 10:00 to 11:00.", "Was hat mein Mann am 4. Juli 2027?"), "Tennis"),
        (("Ajoute la tâche « Plantes » pour ma femme pour le 4 juillet 2027", "¿Qué tareas tiene mi mujer?"), "Plantes"),
        (("Trage in das Blatt Log meiner Frau ein: 2027-07-04, Brot, 3,20", "Read the wife's Log sheet"), "3.20"),
    ],
)  # fmt: skip
def test_what_was_written_is_told_when_asked_for(lab: Lab, prompts: tuple[str, str], told: str) -> None:
    lab.ask(prompts[0])
    assert told in lab.ask(prompts[1]).reply


def test_the_version_is_told_by_the_admin_plugin(lab: Lab) -> None:
    assert lab.agent.version() == VERSION


def test_sessions_do_not_see_each_other_and_one_session_remembers(lab: Lab) -> None:
    lab.ask("Add 'Tennis' to the calendar on 4 July 2027 from 10:00 to 11:00.", session="a")
    assert "event" not in lab.ask("My wife's.", session="b").reply
    assert "Tennis" in lab.ask("My wife's.", session="a").reply


def test_turns_of_many_sessions_run_at_the_same_time(lab: Lab) -> None:
    with ThreadPoolExecutor(8) as pool:
        prompts = [
            f"Add 'Meeting {n}' to the wife's calendar on 4 July 2027 from 10:00 to 11:00." for n in range(16)
        ]
        records = list(pool.map(lab.ask, prompts))
    assert all(f"Meeting {n}”" in record.reply for n, record in enumerate(records))
    assert len({item["id"] for item in lab.n8n.objects["calendar/wife"]}) == 16


def test_a_provider_that_fails_after_the_call_leaves_the_write_in_the_record(lab: Lab) -> None:
    lab.model.plant("provider_429_after_call")
    record = lab.ask()
    assert results(record)[0]["ok"] is True
    assert record.transcript["completions"][0]["http_status"] == 429
    assert len(lab.n8n.objects["calendar/wife"]) == 1


def test_arguments_that_break_off_run_nothing_and_stay_raw_in_the_record(lab: Lab) -> None:
    lab.model.plant("truncated_arguments")
    record = lab.ask()
    call = record.transcript["messages"][1]["tool_calls"][0]
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(call["function"]["arguments"])
    assert results(record)[0]["error"]["code"] == "invalid_json"
    assert lab.n8n.requests == []


@pytest.mark.parametrize(
    ("kind", "boundary"),
    [
        ("misspelled_path", "active"),
        ("test_url", "active"),
        ("no_header", "header"),
        ("wrong_header", "header"),
        ("wrong_base_url", "request"),
        ("lost_answer", "request"),
    ],
)
def test_a_fault_of_the_plugin_is_observed_at_its_boundary_and_told_honestly(
    lab: Lab, kind: str, boundary: str
) -> None:
    lab.gateway.plant(kind, ROUTE)
    record = lab.ask()
    assert results(record)[0]["boundary"] == boundary
    assert record.reply.startswith("I could not add “Tennis” for wife.")
    assert lab.ask(EVENT.replace("wife", "husband")).reply.startswith("Done")


def test_a_tool_that_is_not_offered_for_a_person_is_not_called(lab: Lab) -> None:
    lab.gateway.plant("not_offered", ROUTE)
    assert "not given the tool" in lab.ask().reply
    assert lab.ask(EVENT.replace("wife", "husband")).reply.startswith("Done")
    lab.gateway.plant("not_offered")
    assert "not given the tool" in lab.ask("List the wife's tasks").reply


def test_an_answer_that_is_lost_has_written_all_the_same(lab: Lab) -> None:
    lab.gateway.plant("lost_answer")
    lab.ask()
    assert len(lab.n8n.objects["calendar/wife"]) == 1


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("other_persons_path", ["/webhook/L4CK3Y/calendar/add/husband"]),
        ("sends_twice", ["/webhook/L4CK3Y/calendar/add/wife"] * 2),
    ],
)
def test_a_plugin_that_sends_elsewhere_or_twice_believes_in_its_success(
    lab: Lab, kind: str, seen: list[str]
) -> None:
    lab.gateway.plant(kind, ROUTE)
    assert lab.ask().reply.startswith("Done")
    assert [request["path"] for request in lab.n8n.requests] == seen


@pytest.mark.parametrize("kind", ["drops_argument", "alters_argument"])
def test_a_plugin_that_changes_the_body_leaves_the_call_as_it_was(lab: Lab, kind: str) -> None:
    lab.gateway.plant(kind)
    record = lab.ask("Add the task 'Plants' for the wife, due 4 July 2027.")
    called = json.loads(record.transcript["messages"][1]["tool_calls"][0]["function"]["arguments"])
    assert called["due"] == "2027-07-04"
    assert lab.n8n.requests[0]["body"].get("due") != "2027-07-04"


def test_a_plugin_that_does_not_check_says_ok_for_an_error(lab: Lab) -> None:
    lab.gateway.plant("unchecked_success")
    lab.gateway.plant("no_header")
    assert results(lab.ask())[0] == {
        "ok": True,
        "data": {"code": 403, "message": "Authorization data is wrong!"},
    }


def test_what_was_planted_is_gone_after_clearing(lab: Lab) -> None:
    for kind in KINDS:
        lab.gateway.plant(kind)
    lab.gateway.clear()
    assert lab.ask().reply.startswith("Done")


def test_an_unknown_fault_cannot_be_planted(lab: Lab) -> None:
    with pytest.raises(UsageProblem, match="no such"):
        lab.gateway.plant("no such")


def test_no_secret_of_the_lab_is_in_what_a_client_can_read(lab: Lab) -> None:
    for kind in KINDS:
        lab.gateway.plant(kind)
        record = lab.ask(session=kind)
        text = lab.client.get(f"/sessions/{kind}/history").text + json.dumps(record.transcript) + record.reply
        assert not any(secret in text for secret in (SECRET, TOKEN, "key-of-the-model"))
        lab.gateway.clear()
