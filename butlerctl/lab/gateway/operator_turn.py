"""A turn as the WebSocket protocol tells it: events of its tools, and the final answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from butlerctl.lab.gateway.runs import Ending, Run
from butlerctl.lab.gateway.sessions import Row
from butlerctl.protocol.tools import ToolSchema, schema_hash

_FAILED = "LLM request failed."
_TIMED_OUT = (
    "Request timed out before a response was generated. Please try again, or increase "
    "`agents.defaults.timeoutSeconds` in your config."
)


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """What one turn of the agent came to. `failure` is the provider's failure in the gateway's words."""

    reply: str
    rows: tuple[Row, ...]
    failure: str = ""


def final_answer(run_id: str, turn: AgentTurn, model: str, offered: Sequence[ToolSchema]) -> dict[str, Any]:
    """The second answer of the `agent` method, without its id. `model` is `provider/model id`."""
    if turn.failure:
        error = {"code": "UNAVAILABLE", "message": f"FailoverError: {turn.failure}"}
        return {"type": "res", "ok": False, "error": error}
    result = {"payloads": [{"text": turn.reply, "mediaUrl": None}], "meta": _meta(turn, model, offered)}
    payload = {"runId": run_id, "status": "ok", "summary": "completed", "result": result}
    return {"type": "res", "ok": True, "payload": payload}


def broken_off(run: Run, model: str, offered: Sequence[ToolSchema]) -> dict[str, Any]:
    """The second answer for a turn that was ended from outside."""
    if run.ending is Ending.DELETED:
        message = "EmbeddedAttemptSessionTakeoverError: This operation was aborted"
        return {"type": "res", "ok": False, "error": {"code": "UNAVAILABLE", "message": message}}
    in_time = run.ending is not Ending.TIME
    words = (_FAILED,) if in_time else (_FAILED, _TIMED_OUT)
    meta = {**_meta(AgentTurn("\n".join(words), tuple(run.rows)), model, offered), "aborted": True}
    why: dict[str, Any] = {"stopReason": "aborted"}
    if not in_time:
        why = {"stopReason": "rpc", "timeoutPhase": "provider", "providerStarted": True}
    result = {"payloads": [{"text": text, "mediaUrl": None} for text in words], "meta": meta}
    payload = {"runId": run.id, "status": "timeout", "summary": "aborted", **why, "result": result}
    return {"type": "res", "ok": True, "payload": payload}


def _meta(turn: AgentTurn, model: str, offered: Sequence[ToolSchema]) -> dict[str, Any]:
    provider, _, name = model.partition("/")
    results = [row for row in turn.rows if row["role"] == "toolResult"]
    summary = {
        "calls": len(results),
        "tools": sorted({str(row["toolName"]) for row in results}),
        "failures": sum(bool(row["isError"]) for row in results),
    }
    trace = {"winnerProvider": provider, "winnerModel": name, "fallbackUsed": False, "runner": "embedded"}
    return {
        "aborted": False,
        "stopReason": "stop",
        "finalAssistantRawText": turn.reply,
        "executionTrace": trace,
        **({"toolSummary": summary} if results else {}),
        "systemPromptReport": prompt_report(offered),
    }


def prompt_report(offered: Sequence[ToolSchema]) -> dict[str, Any]:
    """What the gateway reports of a turn's system prompt: the tools that the model was given."""
    return {"source": "run", "tools": {"entries": [_entry(tool) for tool in offered]}}


def _entry(tool: ToolSchema) -> dict[str, Any]:
    count = len(tool.parameters["properties"])
    return {"name": tool.name, "schemaHash": schema_hash(tool), "propertiesCount": count}
