"""The wire formats of function calling, one file each, and the one table of them.

An adapter is declared by whoever knows the provider. It is never guessed from the text: the same characters
are a call under one adapter and a leak under every other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from butlerctl.protocol.wires import openai_chat
from butlerctl.protocol.wires.turn import WireTurn


@dataclass(frozen=True, slots=True)
class Adapter:
    """How one vendor's turns are read. `own_leaks`: kinds that are the format itself here, not a leak."""

    name: str
    read: Callable[[Any], WireTurn]
    own_leaks: frozenset[str] = frozenset()

    @property
    def origin(self) -> str:
        return f"text:{self.name}" if self.name.endswith("_text") else "native"


ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        adapter.name: adapter
        for adapter in (
            Adapter("openai_chat", openai_chat.read),
            Adapter("openai_legacy", openai_chat.read),
            Adapter("openrouter", openai_chat.read),
            Adapter("deepseek_chat", openai_chat.read),
            Adapter("mistral", openai_chat.read_mistral),
        )
    }
)
