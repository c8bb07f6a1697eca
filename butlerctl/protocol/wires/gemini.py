"""Gemini: `functionCall` parts. Id, name and args are all optional; a stream brings whole calls, one per chunk.

Facts: `STOP` is the normal end of a turn with calls; `MALFORMED_FUNCTION_CALL` without parts is a failed call;
Vertex AI may stream arguments as `partialArgs`, which are not read here: such a call counts as incomplete.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from butlerctl.protocol.observation import Observation
from butlerctl.protocol.tools import ToolSchema
from butlerctl.protocol.wires.access import chunks_of, id_of, name_of, obj, objects, response_or_stream, text
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of, unreadable

_FAILED_CALL = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})


def read(payload: Any) -> WireTurn:
    """The turn in a response or a list of stream chunks. Raises BadDocument for anything else."""
    response, chunks = response_or_stream(payload, "gemini")
    candidates = [_candidate_zero(chunk or {"error": True}) for chunk in chunks_of(chunks or [response])]
    if not any(candidates):
        return WireTurn(notes=["no_completion"], cut_off=True)
    reasons = [reason for candidate in candidates if (reason := text(candidate.get("finishReason")))]
    good = bool(reasons) and set(reasons) == {"STOP"} and not any(map(_is_broken, chunks))
    parts = [part for candidate in candidates for part in objects(obj(candidate.get("content")).get("parts"))]
    calls = [
        _call(part["functionCall"], good=good) for part in parts if isinstance(part.get("functionCall"), dict)
    ]
    if not calls and not _FAILED_CALL.isdisjoint(reasons):
        calls = [unreadable("", complete=False)]
    visible = "".join(text(part.get("text")) for part in parts if not part.get("thought"))
    return WireTurn(calls, visible, cut_off=not good)


def tools(schemas: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    declarations = [
        {"name": schema.name, "description": schema.description, "parameters": schema.parameters}
        for schema in schemas
    ]
    return [{"functionDeclarations": declarations}]


def result(observation: Observation) -> dict[str, Any]:
    response = json.loads(observation.content)
    part = {
        "id": observation.id,
        "name": observation.name,
        "response": response if isinstance(response, dict) else {"result": response},
    }
    return {"role": "user", "parts": [{"functionResponse": part}]}


def _candidate_zero(chunk: dict[str, Any]) -> dict[str, Any]:
    candidates = objects(chunk.get("candidates"))
    return next((candidate for candidate in candidates if candidate.get("index") in (0, None)), {})


def _is_broken(chunk: Any) -> bool:
    return bool(chunk.get("error")) if isinstance(chunk, dict) else chunk != "[DONE]"


def _call(call: dict[str, Any], *, good: bool) -> WireCall:
    whole = "partialArgs" not in call and not call.get("willContinue")
    return WireCall(
        name_of(call.get("name")),
        id_of(call.get("id")),
        arguments_of(call.get("args")),
        complete=good and whole,
    )
