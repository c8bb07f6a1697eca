"""What the inventory says of a placeholder, in the words of a message."""

from __future__ import annotations

from butlerctl.workflows.rules.base import Context


def standing(name: str, context: Context) -> str:
    """` (bound to ${NAME})`, ` (documented, not bound)`, ` (unknown to the inventory)`, or nothing."""
    if context.placeholders is None:
        return ""
    known = context.placeholders.get(name)
    if known is None:
        return " (unknown to the inventory)"
    return f" (bound to {known.reference})" if known.reference else " (documented, not bound)"


def advice(name: str, context: Context, otherwise: str) -> str:
    """The next step: what the inventory says the value is, else what the rule says."""
    known = (context.placeholders or {}).get(name)
    if known is None:
        return otherwise
    step = "`butlerctl apply` fills it in" if known.reference else "add its `value` to the inventory"
    return f"{known.meaning}; {step}"
