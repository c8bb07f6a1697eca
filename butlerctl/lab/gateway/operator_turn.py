"""A turn as the WebSocket protocol tells it: events of its tools, and the final answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butlerctl.lab.gateway.sessions import Row
from butlerctl.protocol.tools import ToolSchema, schema_hash


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


def tool_events(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """What the gateway reports of each call and each result, in order."""
    return [event for row in rows for event in _events(row)]


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


def _events(row: Row) -> list[Mapping[str, Any]]:
    if row["role"] == "assistant":
        calls = [item for item in row["content"] if item["type"] == "toolCall"]
        return [
            {"phase": "start", "name": call["name"], "toolCallId": call["id"], "args": call["arguments"]}
            for call in calls
        ]
    if row["role"] != "toolResult":
        return []
    head = {"phase": "result", "name": row["toolName"], "toolCallId": row["toolCallId"]}
    result = {"content": row["content"], "details": row.get("details")}
    return [{**head, "isError": row["isError"], "result": result}]
