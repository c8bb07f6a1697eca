"""The wire formats of function calling, one file each, and the one table of them.

An adapter is declared by whoever knows the provider. It is never guessed from the text: the same characters
are a call under one adapter and a leak under every other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from butlerctl.protocol.observation import Observation
from butlerctl.protocol.tools import ToolSchema
from butlerctl.protocol.wires import (
    anthropic,
    claude_xml_text,
    cohere_v2,
    deepseek_dsml_text,
    deepseek_v31_text,
    gemini,
    glm45_text,
    harmony_text,
    hermes_text,
    kimi_k2_text,
    llama3_json_text,
    minimax_m2_text,
    ollama,
    openai_chat,
    openai_responses,
    qwen3_coder_text,
)
from butlerctl.protocol.wires.turn import WireTurn

Render = Callable[[Sequence[ToolSchema]], list[dict[str, Any]]]
Result = Callable[[Observation], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Adapter:
    """One vendor's format: how its turns are read, how tools are offered, how an observation is sent back.

    A text format is only read. `own_leaks`: kinds of markup that are the format itself here, not a leak.
    """

    name: str
    read: Callable[[Any], WireTurn]
    tools: Render | None = None
    result: Result | None = None
    own_leaks: frozenset[str] = frozenset()

    @property
    def origin(self) -> str:
        return f"text:{self.name}" if self.name.endswith("_text") else "native"


def _text(name: str, read: Callable[[Any], WireTurn], *own_leaks: str) -> Adapter:
    return Adapter(name, read, own_leaks=frozenset(own_leaks))


_chat = openai_chat
ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        adapter.name: adapter
        for adapter in (
            Adapter("openai_chat", _chat.read, _chat.tools, _chat.result),
            Adapter("openai_legacy", _chat.read, _chat.legacy_tools, _chat.legacy_result),
            Adapter("openrouter", _chat.read, _chat.tools, _chat.result),
            Adapter("deepseek_chat", _chat.read, _chat.tools, _chat.result),
            Adapter("mistral", _chat.read_mistral, _chat.tools, _chat.mistral_result),
            Adapter(
                "openai_responses", openai_responses.read, openai_responses.tools, openai_responses.result
            ),
            Adapter("anthropic", anthropic.read, anthropic.tools, anthropic.result),
            Adapter("gemini", gemini.read, gemini.tools, gemini.result),
            Adapter("cohere_v2", cohere_v2.read, _chat.tools, cohere_v2.result),
            Adapter("ollama", ollama.read, _chat.tools, ollama.result),
            _text("hermes_text", hermes_text.read, "tool_call_xml"),
            _text("qwen3_coder_text", qwen3_coder_text.read, "tool_call_xml", "function_xml"),
            _text("llama3_json_text", llama3_json_text.read, "llama_tag", "json_call"),
            _text("glm45_text", glm45_text.read, "tool_call_xml", "glm_xml"),
            _text("kimi_k2_text", kimi_k2_text.read, "kimi_tokens"),
            _text("minimax_m2_text", minimax_m2_text.read, "minimax_xml", "invoke_xml"),
            _text("deepseek_v31_text", deepseek_v31_text.read, "deepseek_tokens"),
            _text("deepseek_dsml_text", deepseek_dsml_text.read),
            _text("harmony_text", harmony_text.read, "harmony"),
            _text("claude_xml_text", claude_xml_text.read, "invoke_xml"),
        )
    }
)
