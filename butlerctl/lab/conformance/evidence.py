"""One misbehaviour as an evidence bundle, as a live run would have collected it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.evidence import Bundle, Intent
from butlerctl.gateway.tap_record import Conversation, is_completion
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.lab.conformance.outcome import Observed


def bundle_of(observed: Observed, *, with_wire: bool) -> Bundle:
    """The gateway's transcript and what the webhooks saw; `with_wire` adds what a tap before the model saw."""
    ask = observed.case.ask
    intent = Intent(
        OPERATION_OF_TOOL[ask.tool].name, ask.arguments["profile"], ask.tool, ask.arguments, ask.prompt
    )
    transcripts = [_transcript(observed), *(_wire(observed) if with_wire else ())]
    return Bundle(
        intent,
        (*transcripts, *observed.exchanges),
        datetime.now(UTC),
        ZoneInfo("America/New_York"),
        observed.case.id,
    )


def _transcript(observed: Observed) -> dict[str, Any]:
    """A turn that the gateway refused leaves no row: it was asked all the same."""
    document: dict[str, Any] = {
        "kind": "transcript",
        "tools_offered": list(observed.offered),
        "messages": list(observed.messages) or [{"role": "user", "content": observed.case.ask.prompt}],
        "complete": True,
    }
    if observed.run.error is not None:
        document["completions"] = [{"http_status": None, "body": {"error": observed.run.error}}]
    return document


def _wire(observed: Observed) -> list[dict[str, Any]]:
    conversation = Conversation()
    asked = [exchange for exchange in observed.wire if is_completion(exchange)]
    for exchange in asked:
        conversation.add(exchange)
    return [conversation.document()] if asked else []
