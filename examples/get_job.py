"""A registry of one tool, and three calls that teach three lessons.

    python examples/get_job.py

"17" becomes the integer 17. Job 99 is an honest `not_found`: the name was legal, the id was not.
`launch_nukes` is not created by wish: an unknown name reaches no function.
"""

from __future__ import annotations

from typing import Any

from butlerctl.protocol.dispatch import dispatch_all
from butlerctl.protocol.normalize import normalize
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.tools import ToolSchema

JOBS = {17: "failed", 18: "running"}


def get_job(job_id: int) -> dict[str, Any]:
    if job_id not in JOBS:
        return {"error": {"code": "not_found", "message": f"there is no job {job_id}"}}
    return {"job_id": job_id, "status": JOBS[job_id]}


REGISTRY = Registry(
    [
        Tool(
            ToolSchema(
                name="get_job",
                description="Look up one job.",
                parameters={
                    "type": "object",
                    "properties": {"job_id": {"type": "integer", "minimum": 1}},
                    "required": ["job_id"],
                    "additionalProperties": False,
                },
            ),
            get_job,
        )
    ]
)


def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


# A model's turn as a provider delivers it.
RESPONSE = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    call("a", "get_job", '{"job_id": "17"}'),
                    call("b", "get_job", '{"job_id": 99}'),
                    call("c", "launch_nukes", '{"target": "moon"}'),
                ],
            },
        }
    ]
}


def main() -> None:
    turn = normalize("openai_chat", RESPONSE, REGISTRY)
    for observation in dispatch_all(turn.items, REGISTRY):
        print(observation.id, observation.code or "ok", observation.content)


if __name__ == "__main__":
    main()
