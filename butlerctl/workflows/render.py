"""Put values in the place of placeholders: an export becomes what is deployed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.workflows.placeholders import STICKY_NOTE, Placeholder, placeholders_of
from butlerctl.workflows.walk import Path

__all__ = ["Placeholder", "placeholders_of", "render"]

_UNSAFE_INSIDE_A_TEXT = frozenset("'\"`\\{}<>\n\r")


def render(document: Mapping[str, Any], bindings: Mapping[str, str]) -> dict[str, Any]:
    """A copy of the workflow in which each bound `<TOKEN>` of nodes and settings has its value.

    A credential id that is the bare word TOKEN is replaced too. Notes are left as they are. Raises BadInput
    (never naming the value) when a value would change the code or expression around its token.
    """
    return {
        key: _rendered(value, bindings, (key,)) if key in ("nodes", "settings") else value
        for key, value in document.items()
    }


def _rendered(value: Any, bindings: Mapping[str, str], path: Path) -> Any:
    if isinstance(value, str):
        return _text(value, bindings, path)
    if isinstance(value, list):
        return [_rendered(item, bindings, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        if value.get("type") == STICKY_NOTE and len(path) == 2:
            return value
        return {
            key: item if key == "notes" else _rendered(item, bindings, (*path, key))
            for key, item in value.items()
        }
    return value


def _text(text: str, bindings: Mapping[str, str], path: Path) -> str:
    if path[-1] == "id" and "credentials" in path and text in bindings:
        return bindings[text]
    if "<" not in text:
        return text
    for name, value in bindings.items():
        token = f"<{name}>"
        if token in text:
            _refuse_injection(name, value, whole=text == token)
            text = text.replace(token, value)
    return text


def _refuse_injection(name: str, value: str, *, whole: bool) -> None:
    if value.startswith("=") or not value or (not whole and _UNSAFE_INSIDE_A_TEXT & set(value)):
        raise BadInput(
            f"the value bound to {name} cannot stand in a workflow",
            hint="it is empty, begins with '=' or would break the text around its placeholder",
        )
