"""The household's six tools as the plugin runs them: check the arguments again, POST to n8n, judge the answer."""

from __future__ import annotations

import errno
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from butlerctl.gateway.http import client_for
from butlerctl.gateway.repeats import RepeatGuard
from butlerctl.gateway.webhook_answer import Answer, failed, observe
from butlerctl.inventory.operations import OPERATION_OF_TOOL, Route
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.tools import ToolSchema, ToolShape, argument_faults, household_tools
from butlerctl.redaction import MASK, redact, register_secret

if TYPE_CHECKING:
    import httpx

_MOST_BYTES = 2_000_000
_BLANKS = " \t\r\n"
_HEADER_TEXT = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class WebhookToolsSettings:
    """Where the tools lead. `n8n_url` is n8n's address without /webhook; `timeout` counts seconds for a whole answer.

    An empty secret sends no header.
    """

    n8n_url: str
    shape: ToolShape
    prefix: str = ""
    header: str = "X-L4CK3Y-Auth"
    secret: str = field(default="", repr=False)
    user_agent: str = "FR4M3W0RK-Tools/1.0"
    timeout: float = 15.0


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """One POST, ready to be sent."""

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    timeout: float


class ToolRun:
    """The tools for one request to the agent. `exchanges` has an entry for each call that ran, None where nothing
    was sent.

    `guard` counts repeated calls by `session`; without one this request is counted alone.
    """

    def __init__(self, tools: WebhookTools, guard: RepeatGuard | None = None, session: str = "") -> None:
        self.exchanges: list[dict[str, Any] | None] = []
        self._tools = tools
        self._guard = guard or RepeatGuard()
        self._session = session
        self.registry = Registry(
            Tool(schema, partial(self._run, schema.name), partial(tools.beyond_schema, schema.name))
            for schema in tools.offered
        )

    def _run(self, tool: str, **arguments: Any) -> dict[str, Any]:
        observation, exchange = self._tools.call(tool, arguments, self._guard, self._session)
        self.exchanges.append(exchange)
        return observation


class WebhookTools:
    """Sends tool calls to n8n. One HTTP client for all of them; use as a context manager, or `close` it."""

    def __init__(self, settings: WebhookToolsSettings) -> None:
        register_secret(settings.secret)
        # As the plugin sends it: a header loses the blanks and line ends around its value.
        self.settings = replace(settings, secret=settings.secret.strip(_BLANKS))
        self._schemas = {schema.name: Tool(schema) for schema in household_tools(settings.shape)}
        # As the plugin's fetch: no proxy of the environment, no redirects.
        self._client = client_for(settings.n8n_url, trust_env=False)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def offered(self) -> tuple[ToolSchema, ...]:
        """What the model is offered."""
        return tuple(tool.schema for tool in self._schemas.values())

    def beyond_schema(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """What is wrong with arguments that fit the schema; [] when nothing is."""
        return argument_faults(tool, arguments, self.settings.shape)

    def call(
        self, tool: str, arguments: Mapping[str, Any], guard: RepeatGuard | None = None, session: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The observation of one call, and the exchange it made (None when nothing was sent).

        Arguments are checked again here, because a gateway may run a call that the schema forbids. `guard` refuses
        what this session repeats too often.
        """
        faults = self._schemas[tool].faults(dict(arguments)) or self.beyond_schema(tool, arguments)
        if faults:
            return failed("call", "invalid_args", "; ".join(faults), sent=False), None
        repeated = guard.refusal(session, tool, arguments) if guard is not None else ""
        if repeated:
            return failed("call", "repeated_call", repeated, sent=False), None
        route = Route(OPERATION_OF_TOOL[tool].name, str(arguments["profile"]))
        request = self.prepare(route, {name: value for name, value in arguments.items() if name != "profile"})
        path = "/" + request.url.split("://", 1)[-1].partition("/")[2]
        if _HEADER_TEXT.fullmatch(self.settings.secret) is None:
            refused = Answer(failure="bad_secret", detail="the secret cannot stand in a header")
            return self.judge(refused, path, route), None
        started = datetime.now(UTC)
        answer = self.send(request, route)
        return self.judge(answer, path, route), self._exchange(request, answer, started)

    def prepare(self, route: Route, body: Mapping[str, Any]) -> WebhookRequest:
        """The request for a call, by the contract. `body` holds the arguments without the profile."""
        settings = self.settings
        path = "/".join(
            quote(part, safe="") for part in route.webhook_path(settings.prefix).split("/") if part
        )
        headers = {"Content-Type": "application/json", "User-Agent": settings.user_agent}
        if settings.secret:
            headers[settings.header] = settings.secret
        return WebhookRequest(
            f"{settings.n8n_url.rstrip('/')}/webhook/{path}", headers, body, settings.timeout
        )

    def judge(self, answer: Answer, path: str, route: Route) -> dict[str, Any]:
        """The observation for what came back from this path."""
        del route
        return observe(answer, path)

    def send(self, request: WebhookRequest, route: Route) -> Answer:
        """POST once and wait for the whole answer. Never raises for what the network does."""
        import httpx

        del route
        started = time.monotonic()
        headers = [(name.encode(), value.encode("latin-1")) for name, value in request.headers.items()]
        body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            with self._client.stream(
                "POST", request.url, content=body, headers=headers, timeout=request.timeout
            ) as response:
                return _read(response, started, request.timeout)
        except httpx.TimeoutException:
            return Answer(elapsed_ms=_since(started), failure="timeout")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Answer(elapsed_ms=_since(started), failure="network", detail=_cause(error))

    def _exchange(self, request: WebhookRequest, answer: Answer, started: datetime) -> dict[str, Any]:
        """The evidence document of one exchange, without the secret."""
        headers = {
            name: MASK if name == self.settings.header else value for name, value in request.headers.items()
        }
        body = answer.document if answer.document is not None else answer.text
        response: dict[str, Any] = {
            "status": answer.status,
            "headers": dict(answer.headers),
            "body": body,
            "elapsed_ms": answer.elapsed_ms,
        }
        if answer.failure:
            response["error"] = answer.detail or answer.failure
        document: dict[str, Any] = redact(
            {
                "kind": "exchange",
                "seen_by": "plugin",
                "at": started.isoformat(timespec="milliseconds"),
                "request": {
                    "method": "POST",
                    "url": request.url,
                    "headers": headers,
                    "body": dict(request.body),
                },
                "response": response,
            }
        )
        return document


def _read(response: httpx.Response, started: float, timeout: float) -> Answer:
    """The whole answer within the time, as far as it may be read."""
    head = Answer(response.status_code, dict(response.headers))
    if response.is_redirect:
        return _ended(head, started, "redirect", response.headers.get("location", ""))
    text = bytearray()
    for piece in response.iter_bytes():
        text += piece
        if len(text) > _MOST_BYTES:
            return _ended(head, started, "too_large", f"over {_MOST_BYTES} bytes")
        if time.monotonic() - started > timeout:
            return _ended(head, started, "timeout", "")
    return Answer(head.status, head.headers, text.decode(errors="replace"), _since(started))


def _ended(head: Answer, started: float, failure: str, detail: str) -> Answer:
    return Answer(head.status, head.headers, "", _since(started), failure, detail)


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)


def _cause(error: BaseException) -> str:
    """The name of the system's error below an exception, such as ECONNREFUSED; else the exception's own name."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, OSError) and current.errno is not None:
            return errno.errorcode.get(current.errno, type(error).__name__)
        current = current.__cause__ or current.__context__
    return type(error).__name__
