"""The command `gateway check`: what it says, its exit codes, and what it leaves."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest

from butlerctl.cli.app import run
from butlerctl.errors import ExitCode
from butlerctl.lab.conformance.script import Failure
from butlerctl.lab.conformance.servers import answer_text, succeed
from butlerctl.lab.gateway.agents import Agents, OtherAgent
from butlerctl.lab.real.relay import Relay
from tests.checks.gateway_stand import (
    SHIPPED,
    TOKEN,
    lab_gateway,
)


@pytest.fixture
def asked(monkeypatch, capsys):
    """Run the command against a gateway; its exit code and what it printed."""

    def ask(url, *options, n8n="http://127.0.0.1:9"):
        monkeypatch.setenv("OPENCLAW_GATEWAY_URL", url)
        monkeypatch.setenv("OPENCLAW_GATEWAY_TOKEN", TOKEN)
        monkeypatch.setenv("N8N_URL", n8n)
        code = run(["gateway", "check", "--inventory", str(SHIPPED), *options])
        return code, capsys.readouterr()

    return ask


def test_the_command_proves_a_good_gateway(asked, inventory):
    with lab_gateway(inventory) as stand:
        code, printed = asked(stand.url, n8n=stand.webhooks.url)
    assert code == ExitCode.PROVEN, printed.out
    assert "proven   gateway.turn: a real turn called list_calendar_events" in printed.out
    assert "skipped  gateway.plugin_files: the plugin's files are not readable from here" in printed.out
    assert TOKEN not in printed.out + printed.err


def test_a_household_without_a_gateway_is_led_to_the_check_of_its_model(tmp_path, capsys):
    inventory = tmp_path / "inventory.yaml"
    text = SHIPPED.read_text(encoding="utf-8").replace("kind: openclaw", "kind: openai")
    inventory.write_text(text, encoding="utf-8")
    assert run(["gateway", "check", "--inventory", str(inventory)]) == ExitCode.USAGE
    assert capsys.readouterr().err.splitlines() == [
        "butlerctl: gateway check is for gateway.kind openclaw",
        "  hint: `butlerctl model check` is for the other kind",
    ]


def test_the_command_answers_in_json_and_exits_1_when_something_is_broken(asked, inventory):
    refusing = answer_text(403, "Authorization data is wrong!", None)
    with lab_gateway(inventory, webhook=refusing) as stand:
        code, printed = asked(stand.url, "--format", "json", n8n=stand.webhooks.url)
    findings = {finding["check"]: finding for finding in json.loads(printed.out)}
    assert code == ExitCode.BROKEN
    assert findings["gateway.invoke[calendar_list/wife]"]["seen"].startswith("header: ")
    assert findings["gateway.turn"]["verdict"] == "broken"


def test_a_provider_that_fails_breaks_the_turns_and_nothing_else(asked, inventory):
    with lab_gateway(inventory, Failure(402, "no credit")) as stand:
        code, printed = asked(stand.url, n8n=stand.webhooks.url)
    assert code == ExitCode.BROKEN
    assert [line.split(":")[0] for line in printed.out.splitlines() if line.startswith("broken")] == [
        "broken   gateway.turn",
        "broken   gateway.cron_lane",
    ]


def test_what_was_not_looked_at_is_not_proven(asked, inventory):
    with lab_gateway(inventory) as stand:
        code, printed = asked(stand.url, "--no-turn", n8n=stand.webhooks.url)
    assert code == ExitCode.NOT_PROVEN
    assert "unproven gateway.turn" in printed.out


def test_no_gateway_is_to_be_tried_again_and_a_wrong_token_is_not_permitted(asked, inventory):
    code, printed = asked("http://127.0.0.1:9")
    assert code == ExitCode.TRY_AGAIN
    assert printed.err.startswith("butlerctl: the gateway at http://127.0.0.1:9 does not answer")
    with lab_gateway(inventory, token="another-token") as stand:
        code, _ = asked(stand.url)
    assert code == ExitCode.NOT_PERMITTED


async def pump(reader, writer):
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()
    writer.close()


class Cut:
    """A way to a gateway that is cut at the nth webhook, for those who hold it by then."""

    def __init__(self, url, nth):
        self._port, self._nth = urlsplit(url).port, nth
        self._relay, self._open, self._webhooks = Relay(), [], 0
        self.url = f"http://127.0.0.1:{self._relay.serve(self._pass_on)}"

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._relay.close()

    def answer(self, request):
        self._webhooks += 1
        if self._webhooks == self._nth:
            for loop, transport in tuple(self._open):  # not those who come back meanwhile
                loop.call_soon_threadsafe(transport.abort)
        return succeed(request)

    async def _pass_on(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open.append((asyncio.get_running_loop(), writer.transport))
        await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))


@pytest.mark.parametrize("nth", [3, 7, 8], ids=["a probe", "the turn", "the job"])
def test_a_lost_connection_ends_the_check_and_leaves_nothing(asked, inventory, nth):
    with lab_gateway(inventory) as stand, Cut(stand.url, nth) as way:
        stand.webhooks.behave(way.answer)
        code, printed = asked(way.url, n8n=stand.webhooks.url)
        assert code == ExitCode.TRY_AGAIN
        assert printed.err.startswith("butlerctl: the gateway closed the connection")
        assert stand.lab.sessions._sessions == {}
        assert stand.lab.cron.jobs() == []


def test_an_agent_that_the_gateway_lacks_is_named(asked, inventory):
    with lab_gateway(inventory) as stand:
        stand.lab.agents = Agents("steward", [OtherAgent("helper")])
        code, printed = asked(stand.url, n8n=stand.webhooks.url)
    assert code == ExitCode.BAD_INPUT
    assert "the gateway has no agent butler; it has: steward, helper" in printed.err


def test_the_labs_gateway_is_proven(asked):
    code, printed = asked("http://127.0.0.1:9", "--lab")
    assert code == ExitCode.PROVEN, printed.out
    assert "proven   gateway.cron_lane" in printed.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--page", "page.md"], "--page is a part of --conformance"),
        (["--conformance"], "--conformance needs --lab"),
        (["--engine", "real"], "--engine real needs --lab"),
    ],
)
def test_options_that_need_another_are_a_usage_problem(asked, options, words):
    code, printed = asked("http://127.0.0.1:9", *options)
    assert code == ExitCode.USAGE
    assert words in printed.err
