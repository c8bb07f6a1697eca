"""Faults of a plugin, each planted by name for one route or for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from butlerctl.errors import UsageProblem
from butlerctl.gateway.webhook_answer import Answer
from butlerctl.gateway.webhook_tools import WebhookRequest, WebhookTools, WebhookToolsSettings
from butlerctl.inventory.operations import OPERATION_OF_TOOL, OPERATIONS, Route
from butlerctl.protocol.tools import ToolSchema

NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens there

KINDS: Mapping[str, str] = {
    "not_offered": "the model is not offered the tool for this person",
    "other_persons_path": "the plugin sends to the webhook of another person",
    "other_operations_path": "the plugin sends to the webhook of another operation",
    "misspelled_path": "the plugin sends to a path that no workflow has",
    "no_prefix": "the plugin leaves the household's prefix out of the path",
    "doubled_webhook": "the plugin's base address already ends in /webhook",
    "double_slash": "the plugin joins base address and path with a slash too many",
    "test_url": "the plugin sends to n8n's test address",
    "no_header": "the plugin does not send the secret",
    "wrong_header": "the plugin sends another secret",
    "wrong_base_url": "the plugin sends to an address where nothing listens",
    "drops_argument": "the plugin leaves the last argument out of the request",
    "alters_argument": "the plugin changes the text of the last argument",
    "empty_body": "the plugin sends no arguments at all",
    "unchecked_success": "the plugin says ok for every answer that is JSON",
    "lost_answer": "the request arrives, its answer does not come back in time",
    "sends_twice": "the plugin sends every request twice",
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A name of `KINDS` for one route; for every route when it is None."""

    kind: str
    route: Route | None = None


class FaultyTools(WebhookTools):
    """The webhook tools, with what is planted."""

    def __init__(self, settings: WebhookToolsSettings) -> None:
        super().__init__(settings)
        self._planted: tuple[Planted, ...] = ()

    def plant(self, kind: str, route: Route | None = None) -> None:
        if kind not in KINDS:
            raise UsageProblem(f"the plugin has no fault {kind!r}", hint=f"it has: {', '.join(KINDS)}")
        self._planted = (*self._planted, Planted(kind, route))

    def clear(self) -> None:
        self._planted = ()

    @property
    def offered(self) -> tuple[ToolSchema, ...]:
        schemas = (self._reduced(schema) for schema in super().offered)
        return tuple(schema for schema in schemas if schema.parameters["properties"]["profile"]["enum"])

    def prepare(self, route: Route, body: Mapping[str, Any]) -> WebhookRequest:
        kinds = {planted.kind for planted in self._planted if planted.route in (None, route)}
        request = super().prepare(self._misled(route, kinds), body)
        headers = dict(request.headers)
        if "no_header" in kinds:
            headers.pop(self.settings.header, None)
        if "wrong_header" in kinds:
            headers[self.settings.header] = "not-the-secret"
        return replace(
            request, url=self._misspelled(request.url, kinds), headers=headers, body=_tampered(body, kinds)
        )

    def send(self, request: WebhookRequest, route: Route) -> Answer:
        answer = super().send(request, route)
        if self._has("sends_twice", route):
            answer = super().send(request, route)
        if self._has("lost_answer", route):
            return Answer(elapsed_ms=answer.elapsed_ms, failure="timeout")
        return answer

    def judge(self, answer: Answer, path: str, route: Route) -> dict[str, Any]:
        if self._has("unchecked_success", route) and isinstance(answer.document, dict):
            return {"ok": True, "data": answer.document}
        return super().judge(answer, path, route)

    def _has(self, kind: str, route: Route) -> bool:
        return any(planted.kind == kind and planted.route in (None, route) for planted in self._planted)

    def _misled(self, route: Route, kinds: set[str]) -> Route:
        """The route that the plugin takes for the right one."""
        others = [name for name in self.settings.shape if name != route.profile]
        if "other_persons_path" in kinds and others:
            return Route(route.operation, others[0])
        if "other_operations_path" in kinds:
            asked = OPERATIONS[route.operation]
            found = (each for each in OPERATIONS.values() if each.domain == asked.domain and each != asked)
            return Route(next(found).name, route.profile)
        return route

    def _misspelled(self, url: str, kinds: set[str]) -> str:
        for kind, wrong in _SPELLINGS.items():
            if kind in kinds:
                url = wrong(url, self.settings)
        return url

    def _reduced(self, schema: ToolSchema) -> ToolSchema:
        """The schema without the people for whom the tool is not offered."""
        operation = OPERATION_OF_TOOL[schema.name].name
        properties = schema.parameters["properties"]
        offered = [
            name
            for name in properties["profile"]["enum"]
            if not self._has("not_offered", Route(operation, name))
        ]
        profile = {**properties["profile"], "enum": offered}
        return replace(
            schema, parameters={**schema.parameters, "properties": {**properties, "profile": profile}}
        )


_SPELLINGS: Mapping[str, Callable[[str, WebhookToolsSettings], str]] = {
    "misspelled_path": lambda url, _: f"{url}s",
    "no_prefix": lambda url, settings: url.replace(f"/{settings.prefix}/", "/", 1),
    "doubled_webhook": lambda url, _: url.replace("/webhook/", "/webhook/webhook/", 1),
    "double_slash": lambda url, _: url.replace("/webhook/", "/webhook//", 1),
    "test_url": lambda url, _: url.replace("/webhook/", "/webhook-test/", 1),
    "wrong_base_url": lambda url, settings: url.replace(settings.n8n_url.rstrip("/"), NOWHERE, 1),
}


def _tampered(body: Mapping[str, Any], kinds: set[str]) -> dict[str, Any]:
    changed = {} if "empty_body" in kinds else dict(body)
    last = next(reversed(changed), None)
    if last is not None and "drops_argument" in kinds:
        del changed[last]
    elif last is not None and "alters_argument" in kinds:
        changed[last] = _altered(changed[last])
    return changed


def _altered(value: Any) -> Any:
    """Another value of the same kind: one hour or day later for a time, one more for a number, else a longer text."""
    if isinstance(value, list) and value:
        return [*value[:-1], _altered(value[-1])]
    if isinstance(value, int) and not isinstance(value, bool):
        return value + 1
    text = str(value)
    return f"{text[:8]}{int(text[8:10]) % 28 + 1:02d}{text[10:]}" if text[8:10].isdigit() else f"{text} 2"
