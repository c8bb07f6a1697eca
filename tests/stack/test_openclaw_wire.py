"""What the real gateway made of a call, as the judge sees it in a live run: with a tap before the model and without."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from butlerctl.evidence import Bundle, Intent
from butlerctl.gateway.openclaw_websocket import WebSocketGateway
from butlerctl.gateway.tap_record import Conversation, is_completion
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.judge import judge
from butlerctl.lab.conformance.questions import EVENT, ROW
from butlerctl.lab.conformance.run import AGENT
from butlerctl.lab.conformance.script import native, words
from butlerctl.lab.conformance.servers import succeed

pytestmark = pytest.mark.stack

BIG = 2**53 + 1  # JavaScript has no such number


@pytest.fixture
def asked(real_gateway):
    """Ask the real gateway; the judgement of the live transcript, with the tap's record where it is wanted."""

    def ask(question, answer, arguments=None, *, with_wire):
        real_gateway.model.play([answer, words(question.done)])
        real_gateway.webhooks.behave(succeed)
        real_gateway.wire.clear()
        gateway = WebSocketGateway(real_gateway.url, real_gateway.token, agent=AGENT, timeout=120)
        record = gateway.ask(question.prompt, session=f"butlerctl-{uuid.uuid4().hex[:12]}")
        gateway.close()
        arguments = arguments or dict(question.arguments)
        operation = OPERATION_OF_TOOL[question.tool].name
        intent = Intent(operation, arguments["profile"], question.tool, arguments, question.prompt)
        conversation = Conversation()
        for exchange in filter(is_completion, real_gateway.wire.exchanges):
            conversation.add(exchange)
        wire = [conversation.document()] if with_wire else []
        evidence = (record.transcript, *wire, *real_gateway.webhooks.exchanges)
        return judge(Bundle(intent, evidence, datetime.now(UTC), ZoneInfo("America/New_York")))

    return ask


def test_a_call_is_native_only_where_the_wire_was_recorded(asked):
    without = asked(EVENT, native(EVENT.call()), with_wire=False).links[0]
    recorded = asked(EVENT, native(EVENT.call()), with_wire=True).links[0]
    assert (without.verdict, recorded.verdict) == ("proven", "proven")
    assert without.reason.endswith("whether the model made it natively was not recorded")
    assert recorded.reason.startswith(f"a native call of {EVENT.tool} ")


def test_a_call_that_the_gateway_made_out_of_text_is_found_on_the_wire_alone(asked):
    text = words(f"[{EVENT.tool}]\n{EVENT.text}\n[/{EVENT.tool}]")
    assert asked(EVENT, text, with_wire=False).first_broken is None
    found = asked(EVENT, text, with_wire=True).first_broken
    assert found.check == "call.promoted_text"


@pytest.mark.parametrize("with_wire", [False, True])
def test_digits_that_the_gateway_lost_break_the_call(asked, with_wire):
    arguments = {**ROW.arguments, "values": [*ROW.arguments["values"][:-1], BIG]}
    answer = native(ROW.call(json.dumps(arguments)))
    found = asked(ROW, answer, arguments, with_wire=with_wire).first_broken
    assert found.check == "call.arguments_unchanged"
    assert str(BIG) in found.expected
    assert str(BIG - 1) in found.seen
