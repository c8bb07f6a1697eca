"""The recorded and invented turns of tests/cases/wire, as tests use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from butlerctl.protocol.normalize import Normalized, normalize
from butlerctl.protocol.registry import Registry, read_registry

FOLDER = Path(__file__).parent.parent / "cases" / "wire"
REGISTRY_FILE = FOLDER / "registry.json"
CASES: list[dict[str, Any]] = [
    json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
    if path != REGISTRY_FILE
]
STREAMS = [case for case in CASES if isinstance(case["payload"], list)]
TEXTS = [case for case in CASES if isinstance(case["payload"], str)]


def case_id(case: dict[str, Any]) -> str:
    return str(case["id"])


def registry() -> Registry:
    return read_registry(json.loads(REGISTRY_FILE.read_text(encoding="utf-8")))


def turn_of(vendor: str, payload: Any) -> Normalized:
    return normalize(vendor, payload, registry())


def spelled(calls: list[dict[str, Any]]) -> list[str]:
    """Calls as text, so that 1, 1.0 and true differ."""
    return [json.dumps([call["name"], call["args"]], sort_keys=True) for call in calls]


def dispatchable(turn: Normalized) -> list[str]:
    return spelled([{"name": call.name, "args": call.args} for call in turn.calls])
