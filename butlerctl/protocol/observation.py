"""What goes back to the model for one call: data, capped and redacted, never an instruction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.protocol.call import RejectedCall
from butlerctl.redaction import redact, redact_text

MOST_CHARACTERS = 16_384


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to exactly one call, matched by `id`.

    `code` is None for a plain result. Otherwise `unknown_tool`, `invalid_json`, `invalid_args`, `cancelled` and
    `over_budget` say that nothing ran; `not_found` and `tool_error` come from a tool that did run.
    `content` is JSON text.
    """

    id: str
    name: str
    code: str | None
    content: str
    executed: bool


def of_result(call_id: str, name: str, result: Any) -> Observation:
    """The observation of a tool's own answer. A `not_found` inside the answer is named as such."""
    return Observation(call_id, name, _code_in(result), _content(result), executed=True)


def of_failure(call_id: str, name: str, error: Exception) -> Observation:
    """A tool that raised. The model must learn that it failed, and that its effect is unknown."""
    answer = _error(
        "tool_error", f"{type(error).__name__}: {error}. The effect is unknown; do not assume success."
    )
    return Observation(call_id, name, "tool_error", _content(answer), executed=True)


def of_rejection(call: RejectedCall) -> Observation:
    return Observation(
        call.id, call.name, call.code, _content(_error(call.code, call.message)), executed=False
    )


def not_run(call_id: str, name: str, code: str, message: str) -> Observation:
    """A good call that was not run, such as `cancelled` or `over_budget`."""
    return Observation(call_id, name, code, _content(_error(code, message)), executed=False)


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def _code_in(result: Any) -> str | None:
    if not isinstance(result, Mapping):
        return None
    error = result.get("error")
    code = error.get("code") if isinstance(error, Mapping) else error
    return "not_found" if code == "not_found" else None


def _content(result: Any) -> str:
    text = redact_text(json.dumps(redact(result), ensure_ascii=False, default=str))
    if len(text) <= MOST_CHARACTERS:
        return text
    return json.dumps(
        {"truncated": True, "characters": len(text), "beginning": text[:MOST_CHARACTERS]}, ensure_ascii=False
    )
