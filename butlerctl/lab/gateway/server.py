"""OpenClaw 2026.6.11 as far as butlerctl uses it: its HTTP side here, its WebSocket protocol in `operator`."""

from __future__ import annotations

import hmac
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from werkzeug.wrappers import Request, Response

from butlerctl.errors import GatewayRefused
from butlerctl.gateway.house_rules import house_rules
from butlerctl.gateway.repeats import RepeatGuard
from butlerctl.gateway.webhook_tools import ToolRun, WebhookToolsSettings
from butlerctl.inventory.operations import Route
from butlerctl.lab.gateway.agents import Agents
from butlerctl.lab.gateway.cron import LabCron
from butlerctl.lab.gateway.faults import FaultyTools
from butlerctl.lab.gateway.hangup import noticing_hangup
from butlerctl.lab.gateway.operator import OperatorConnection
from butlerctl.lab.gateway.operator_turn import AgentTurn, prompt_report
from butlerctl.lab.gateway.projection import shown
from butlerctl.lab.gateway.relay import FAILED_REPLY, is_known, relayed, words_of
from butlerctl.lab.gateway.runs import Ending, Run, Runs
from butlerctl.lab.gateway.sessions import (
    Session,
    Sessions,
    broken_off_row,
    content_of,
    rows_of,
    user_row,
)
from butlerctl.lab.gateway.settings import agent_settings
from butlerctl.lab.gateway.socket import ServerSocket, wants_websocket
from butlerctl.protocol.budget import Budget
from butlerctl.protocol.loop import Turn, run_turn
from butlerctl.protocol.provider import ChatProvider, Message
from butlerctl.protocol.tools import ToolSchema

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

VERSION = "2026.6.11"

_NO_REPLY = "⚠️ Agent couldn't generate a response. Please try again."
_RESERVED = ("cron:", "subagent:", "acp:")
_MOST_ROWS = 1000
# The gateway asks a failing provider three times; the lab does not wait in between.
_BUDGET = Budget(seconds=60, attempts=3, retry_delay=0)


class LabGateway:
    """Serve `app` with LoopbackServer, and `close` it afterwards.

    `model_url` is the base of an OpenAI-compatible endpoint, with /v1; `model` is `provider/model id`.
    `timezone` is the household's zone. `agents` may be set to stand others beside the household's.
    """

    def __init__(
        self,
        model_url: str,
        tools: WebhookToolsSettings,
        *,
        token: str,
        agent: str,
        timezone: str,
        model: str = "lab/lab-butler-1",
        model_key: str = "",
    ) -> None:
        self._provider_name, _, self._model = model.partition("/")
        self._provider = ChatProvider(model_url, model_key, self._model, timeout=_BUDGET.seconds)
        self._tools = FaultyTools(tools)
        self.version = VERSION
        self.token = token
        self.agent = agent
        self.model = model
        self.agents = Agents(agent)
        self.cron = LabCron(timezone)
        self.sessions = Sessions(agent)
        self._guard = RepeatGuard()
        self._timezone = timezone
        self.runs = Runs()
        self._started = time.monotonic()

    def close(self) -> None:
        self._tools.close()
        self._provider.close()

    def plant(self, kind: str, route: Route | None = None) -> None:
        """Plant a fault of the plugin (a name of `faults.KINDS`) on this route, or on every one."""
        self._tools.plant(kind, route)

    def clear(self) -> None:
        self._tools.clear()

    @property
    def app(self) -> WSGIApplication:
        """HTTP and the WebSocket protocol on one port, as OpenClaw has them."""
        http = Request.application(self._answer)

        def application(environ: Any, start_response: Any) -> Any:
            if wants_websocket(environ):
                OperatorConnection(self, ServerSocket(environ)).serve()
                raise ConnectionAbortedError  # the connection is used up: there is nothing to answer
            return http(environ, start_response)

        return application

    @property
    def offered(self) -> tuple[ToolSchema, ...]:
        return self._tools.offered

    def take_turn(self, key: str, prompt: str, run: Run | None = None) -> AgentTurn:
        """One turn as the WebSocket protocol tells it."""
        session = self.sessions.open(key)
        before = len(session.rows)
        turn = self._run(session, prompt, run or Run("", key))
        failure = words_of(turn.completions[-1]) if _is_failed(turn) else ""
        return AgentTurn(_reply(turn), tuple(session.rows[before:]), failure)

    def break_off(self, run: Run) -> None:
        """What a turn that was ended from outside leaves in its session, where that is still there."""
        session = self.sessions.get(run.key)
        if session is not None:
            for row in (*run.rows, broken_off_row()):
                session.add(row)

    def invoke(self, tool: str, arguments: Mapping[str, Any], session: str) -> Mapping[str, Any]:
        """A tool without the model and without its schema: the tool has to check for itself, repeats included."""
        details, _ = self._tools.call(tool, arguments, self._guard, session)
        return details

    def config(self) -> Mapping[str, Any]:
        config = agent_settings(self.agent, self.model, self._timezone, self._tools.settings)
        own = {**config["agents"]["list"][0], "default": self.agents.default == self.agent}
        others = [{"id": each.id, "default": each.is_default} for each in self.agents.others]
        return {**config, "agents": {**config["agents"], "list": [own, *others]}}

    def _answer(self, request: Request) -> Response:
        open_to_all = self._health(request.path)
        if open_to_all is not None:
            return _json(open_to_all)
        known = self._endpoint(request)
        if known is None:
            return Response("Not Found", 404, content_type="text/plain; charset=utf-8")
        method, endpoint = known
        if not self._is_allowed(request):
            return _json({"error": {"message": "Unauthorized", "type": "unauthorized"}}, 401)
        if request.method != method:
            return Response(
                "Method Not Allowed", 405, {"Allow": method}, content_type="text/plain; charset=utf-8"
            )
        return endpoint(request)

    def _health(self, path: str) -> dict[str, Any] | None:
        if path in ("/health", "/healthz"):
            return {"ok": True, "status": "live"}
        if path in ("/ready", "/readyz"):
            uptime = int((time.monotonic() - self._started) * 1000)
            return {"ready": True, "failing": [], "uptimeMs": uptime, "eventLoop": {"degraded": False}}
        return None

    def _endpoint(self, request: Request) -> tuple[str, Callable[[Request], Response]] | None:
        if request.path.startswith("/sessions/") and request.path.endswith("/history"):
            return "GET", self._history
        endpoints: dict[str, tuple[str, Callable[[Request], Response]]] = {
            "/v1/models": ("GET", self._models),
            "/v1/chat/completions": ("POST", self._chat),
            "/tools/invoke": ("POST", self._invoke),
            "/api/v1/admin/rpc": ("POST", self._rpc),
        }
        return endpoints.get(request.path)

    def _is_allowed(self, request: Request) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), self.token.encode())

    def _models(self, request: Request) -> Response:
        del request
        names = ("openclaw", "openclaw/default", f"openclaw/{self.agent}")
        fixed = {"object": "model", "created": 0, "owned_by": "openclaw", "permission": []}
        models = [{"id": name, **fixed} for name in names]
        return _json({"object": "list", "data": models})

    def _chat(self, request: Request) -> Response:
        body = _body(request)
        prompt = _prompt(body)
        if prompt is None:
            return _bad_request("Missing user message in `messages`.")
        named, _, agent = str(body.get("model", "openclaw")).partition("/")
        if named != "openclaw":
            return _bad_request("Invalid `model`. Use `openclaw` or `openclaw/<agentId>`.")
        if agent not in ("", "default", self.agent):
            return _bad_request(f"Unknown agent '{agent}'.")
        key = request.headers.get("x-openclaw-session-key") or f"openai:{uuid.uuid4()}"
        if key.removeprefix(f"agent:{self.agent}:").startswith(_RESERVED):
            return _bad_request("`x-openclaw-session-key` cannot use reserved internal session namespaces.")
        run = Run("", key)
        with noticing_hangup(request.environ.get("werkzeug.socket"), lambda: self._give_up(run)):
            turn = self._run(self.sessions.open(key), prompt, run)
        if _is_failed(turn):
            status, kind, message = relayed(turn.completions[-1])
            return _json({"error": {"message": message, "type": kind}}, status)
        return _completion(turn, body)

    def _give_up(self, run: Run) -> None:
        """The gateway aborts a turn whose client has hung up."""
        if run.stop(Ending.ABORTED):
            self.break_off(run)

    def _run(self, session: Session, prompt: str, run: Run) -> Turn:
        """One turn, whose rows are kept unless it was ended from outside."""
        with session.lock:
            today = datetime.now(ZoneInfo(self._timezone)).date()
            rules = house_rules(self._tools.settings.shape, self._timezone, today)
            given: list[Message] = [
                {"role": "system", "content": rules},
                *session.history,
                {"role": "user", "content": prompt},
            ]
            session.add(user_row(prompt))
            tools = ToolRun(self._tools, self._guard, session.key)
            turn = run_turn(
                self._provider, tools.registry, given, budget=_BUDGET, cancel=run.cancel, watch=run
            )
            session.report = prompt_report(self.offered)
            if run.claim():
                for row in rows_of(turn, len(given), self._provider_name, self._model):
                    session.add(row)
                session.history = list(turn.messages[1:])
            return turn

    def _history(self, request: Request) -> Response:
        key = request.path.removeprefix("/sessions/").removesuffix("/history")
        session = self.sessions.get(key)
        if session is None:
            return _not_found(f"Session not found: {key}")
        rows, more = session.page(_limit(request.args.get("limit")), request.args.get("cursor", type=int))
        following = {"nextCursor": str(rows[0]["__openclaw"]["seq"])} if more and rows else {}
        messages = shown(rows)
        return _json(
            {"sessionKey": session.key, "items": messages, "messages": messages, "hasMore": more, **following}
        )

    def _invoke(self, request: Request) -> Response:
        body = _body(request)
        tool, arguments = body.get("tool"), body.get("args", {})
        if not isinstance(tool, str) or not tool:
            return _json(
                {"ok": False, "error": {"type": "invalid_request", "message": "tools.invoke requires name"}},
                400,
            )
        if tool not in {schema.name for schema in self.offered}:
            return _not_found(f"Tool not available: {tool}")
        try:
            session = self.agents.session_for(body.get("sessionKey"), body.get("agentId"))
        except GatewayRefused as refused:
            return _json({"ok": False, "error": {"type": "invalid_request", "message": refused.message}}, 400)
        details = self.invoke(tool, arguments if isinstance(arguments, dict) else {}, session)
        return _json({"ok": True, "result": {"content": content_of(details), "details": details}})

    def _rpc(self, request: Request) -> Response:
        body = _body(request)
        payloads: Mapping[str, dict[str, Any]] = {
            "status": {"runtimeVersion": VERSION},
            "health": {
                "ok": True,
                "plugins": {"loaded": ["fr4m3w0rk-tools", "admin-http-rpc"], "errors": []},
            },
        }
        method, call_id = str(body.get("method")), body.get("id") or str(uuid.uuid4())
        if method not in payloads:
            error = {"code": "INVALID_REQUEST", "message": f"unknown method: {method}"}
            return _json({"id": call_id, "ok": False, "error": error}, 400)
        return _json({"id": call_id, "ok": True, "payload": payloads[method]})


def _body(request: Request) -> dict[str, Any]:
    body = request.get_json(force=True, silent=True)
    return body if isinstance(body, dict) else {}


def _prompt(body: Mapping[str, Any]) -> str | None:
    """The text of the last user message."""
    messages = body.get("messages")
    users = (
        [m for m in messages if isinstance(m, dict) and m.get("role") == "user"]
        if isinstance(messages, list)
        else []
    )
    content = users[-1].get("content") if users else None
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) and content.strip() else None


def _completion(turn: Turn, body: Mapping[str, Any]) -> Response:
    head = {
        "id": f"chatcmpl_{uuid.uuid4()}",
        "created": int(time.time()),
        "model": body.get("model", "openclaw"),
    }
    text = _reply(turn)
    if body.get("stream"):
        return Response(_stream(head, text), mimetype="text/event-stream")
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {name: int(turn.usage.get(name, 0)) for name in names}
    return _json({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _stream(head: Mapping[str, Any], text: str) -> Iterator[bytes]:
    for delta, finish in (({"role": "assistant"}, None), ({"content": text}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {**head, "object": "chat.completion.chunk", "choices": [choice]}
        yield b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def _is_failed(turn: Turn) -> bool:
    return turn.stop == "provider_error" and is_known(turn.completions[-1])


def _reply(turn: Turn) -> str:
    return turn.reply or (FAILED_REPLY if turn.stop == "provider_error" else _NO_REPLY)


def _limit(text: str | None) -> int | None:
    """How many rows are asked for; what is no number from 1 on counts as 1."""
    if text is None or not text.strip():
        return None
    return min(max(1, int(text)), _MOST_ROWS) if text.isdigit() else 1


def _bad_request(message: str) -> Response:
    return _json({"error": {"message": message, "type": "invalid_request_error"}}, 400)


def _not_found(message: str) -> Response:
    return _json({"ok": False, "error": {"type": "not_found", "message": message}}, 404)


def _json(document: Any, status: int = 200) -> Response:
    return Response(
        json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        status,
        content_type="application/json; charset=utf-8",
    )
