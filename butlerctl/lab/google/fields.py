"""Partial responses: `fields=sheets.properties`, `items(id,summary),nextPageToken`, `a/b`."""

from __future__ import annotations

from typing import Any

from butlerctl.lab.google.errors import bad_request

# A mask maps a field to the mask below it; None keeps the whole field.
Mask = dict[str, Any]


def select(document: Any, fields: str) -> Any:
    """Only the fields that the mask names.

    Raises:
        GoogleError: 400 for a mask that cannot be read.
    """
    mask, rest = _parse(fields.replace("/", ".").replace(" ", ""))
    if rest or not mask:
        raise bad_request(f"Request contains an invalid argument: fields={fields}", "invalidParameter")
    return _keep(document, mask)


def _parse(text: str) -> tuple[Mask, str]:
    """One comma-separated list, up to its end or a closing bracket."""
    mask: Mask = {}
    while text and text[0] != ")":
        end = next((i for i, char in enumerate(text) if char in ",()"), len(text))
        names, text = text[:end].split("."), text[end:]
        below: Mask | None = None
        if text.startswith("("):
            below, text = _parse(text[1:])
            text = text.removeprefix(")")
        for name in reversed(names[1:]):
            below = {name: below}
        known = mask.get(names[0])
        mask[names[0]] = {**known, **below} if known and below else below
        text = text.removeprefix(",")
    return mask, text


def _keep(value: Any, mask: Mask | None) -> Any:
    if mask is None or "*" in mask:
        return value
    if isinstance(value, list):
        return [_keep(item, mask) for item in value]
    if isinstance(value, dict):
        return {key: _keep(item, mask[key]) for key, item in value.items() if key in mask}
    return value
