"""What the tap makes of the real gateway's wire: one transcript for each session, though they use the same words."""

from __future__ import annotations

import json
import uuid

import pytest

from butlerctl.gateway.tap_record import EvidenceFolder
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.run import AGENT
from butlerctl.lab.conformance.script import native, words
from butlerctl.lab.conformance.servers import succeed

pytestmark = pytest.mark.stack


def test_two_sessions_with_the_same_words_are_two_transcripts_and_two_turns_of_one_are_one(
    real_gateway, tmp_path
):
    real_gateway.webhooks.behave(succeed)
    real_gateway.wire.clear()
    sessions = [f"agent:{AGENT}:{uuid.uuid4().hex}" for _ in range(2)]
    for key in sessions:
        real_gateway.operator.create_session(AGENT, key)
    for key in (*sessions, sessions[0]):
        real_gateway.model.play([native(EVENT.call()), words(EVENT.done)])
        real_gateway.operator.run(AGENT, key, EVENT.prompt, run_id=uuid.uuid4().hex, timeout=30)
    folder = EvidenceFolder(tmp_path)
    for exchange in real_gateway.wire.exchanges:
        folder.record(exchange)
    roles = {
        path.name: "".join(message["role"][0] for message in json.loads(path.read_bytes())["messages"])
        for path in tmp_path.iterdir()
    }
    assert roles == {"0001-transcript.json": "uatauata", "0003-transcript.json": "uata"}
