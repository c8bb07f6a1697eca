"""The WebSocket protocol 4 of OpenClaw 2026.6.11, as far as butlerctl uses it, over the lab's gateway."""

from __future__ import annotations

import contextlib
import hmac
import json
import threading
import uuid
from collections.abc import Mapping
from typing import Any

from butlerctl.errors import GatewayRefused
from butlerctl.lab.gateway.operator_methods import ANSWERS, METHODS, Agent, Params, invalid, now, wait_for_run
from butlerctl.lab.gateway.operator_turn import broken_off, final_answer
from butlerctl.lab.gateway.runs import Ending, Run
from butlerctl.lab.gateway.socket import ServerSocket

PROTOCOL = 4
_IMPLIED = {
    "operator.admin": ("operator.admin", "operator.write", "operator.read"),
    "operator.write": ("operator.write", "operator.read"),
    "operator.read": ("operator.read",),
}
_POLICY_VIOLATION = 1008
_MOST_SECONDS = 600.0


class OperatorConnection:
    """One client."""

    def __init__(self, agent: Agent, socket: ServerSocket) -> None:
        self._agent = agent
        self._socket = socket
        self._scopes: frozenset[str] = frozenset()
        self._connected = False

    def serve(self) -> None:
        """Answer until the connection ends."""
        self._event("connect.challenge", {"nonce": str(uuid.uuid4()), "ts": now()})
        for text in self._socket.texts():
            request = json.loads(text)
            try:
                self._answer(request, request.get("params") or {})
            except GatewayRefused as refused:
                self._refuse(request, {"code": refused.code, "message": refused.message})

    def _answer(self, request: Mapping[str, Any], params: Params) -> None:
        method = str(request.get("method"))
        if not self._connected:
            self._connect(request, params)
            return
        self._check(method, params)
        slow = {"agent": self._turn, "agent.wait": self._wait}.get(method)
        if slow is not None:
            threading.Thread(target=slow, args=(request, params), daemon=True).start()
        else:
            self._give(request, ANSWERS[method](self._agent, params))

    def _check(self, name: str, params: Params) -> None:
        if name == "connect":
            raise invalid("connect is only valid as the first request")
        method = METHODS.get(name)
        if method is None:
            raise invalid(f"unknown method: {name}")
        if method.scope not in self._scopes:
            raise invalid(f"missing scope: {method.scope}")
        missing = next((key for key in method.required if key not in params), None)
        if missing is not None:
            raise invalid(f"invalid {name} params: must have required property '{missing}'")
        if method.optional is not None:
            for strange in sorted(set(params) - set(method.required) - method.optional):
                raise invalid(f"invalid {name} params: at root: unexpected property '{strange}'")
        if name == "agent" and params.get("agentId", self._agent.agent) != self._agent.agent:
            raise invalid(f'invalid agent params: unknown agent id "{params["agentId"]}"')

    def _connect(self, request: Mapping[str, Any], params: Params) -> None:
        error = self._connect_error(params)
        if error is not None:
            self._refuse(request, error)
            self._socket.close(_POLICY_VIOLATION, str(error["message"]))
            return
        self._connected = True
        asked = [scope for scope in params.get("scopes") or () if scope in _IMPLIED]
        self._scopes = frozenset(implied for scope in asked for implied in _IMPLIED[scope])
        hello = {
            "type": "hello-ok",
            "protocol": PROTOCOL,
            "server": {"version": self._agent.version, "connId": str(uuid.uuid4())},
            "features": {"methods": sorted(METHODS), "events": ["agent", "chat", "tick", "shutdown"]},
            "auth": {"role": "operator", "scopes": asked},
            "policy": {"maxPayload": 26_214_400, "maxBufferedBytes": 52_428_800, "tickIntervalMs": 30_000},
        }
        self._give(request, hello)

    def _connect_error(self, params: Params) -> Mapping[str, Any] | None:
        if not params.get("minProtocol", 0) <= PROTOCOL <= params.get("maxProtocol", 0):
            details = {"code": "PROTOCOL_MISMATCH", "expectedProtocol": PROTOCOL}
            return {"code": "INVALID_REQUEST", "message": "protocol mismatch", "details": details}
        token = str((params.get("auth") or {}).get("token", ""))
        if not token:
            details = {"code": "DEVICE_IDENTITY_REQUIRED"}
            return {"code": "NOT_PAIRED", "message": "device identity required", "details": details}
        if not hmac.compare_digest(token.encode(), self._agent.token.encode()):
            message = "unauthorized: gateway token mismatch (provide gateway auth token)"
            return {"code": "INVALID_REQUEST", "message": message, "details": {"code": "AUTH_TOKEN_MISMATCH"}}
        return None

    def _wait(self, request: Mapping[str, Any], params: Params) -> None:
        with contextlib.suppress(OSError):
            self._give(request, wait_for_run(self._agent, params))

    def _turn(self, request: Mapping[str, Any], params: Params) -> None:
        """Two answers under one id; a known run id gives the stored one and makes no second turn."""
        run_id = str(params["idempotencyKey"])
        key = str(params.get("sessionKey") or f"agent:{self._agent.agent}:main")

        def report(stream: str, data: Mapping[str, Any]) -> None:
            self._report(run_id, key, stream, data)

        run, is_new = self._agent.runs.begin(run_id, key, report)
        with contextlib.suppress(OSError):  # the client is gone; that does not undo the turn
            if is_new:
                accepted = {"runId": run_id, "sessionKey": key, "status": "accepted", "acceptedAt": now()}
                self._give(request, accepted)
                self._take_turn(run, str(params["message"]), float(params.get("timeout", _MOST_SECONDS)))
            run.wait_for_answer(None)
            self._send({**run.answer, "id": request["id"]})

    def _take_turn(self, run: Run, prompt: str, seconds: float) -> None:
        """The turn in a thread of its own: its time limit, or a request, may end it before it ends itself."""
        agent, turns = self._agent, []

        def work() -> None:
            try:
                turns.append(agent.take_turn(run.key, prompt, run))
            finally:
                run.finish()

        run.report("lifecycle", phase="start", startedAt=now())
        threading.Thread(target=work, daemon=True).start()
        if not run.wait_for_end(seconds):
            run.stop(Ending.TIME)
        run.wait_for_end(_MOST_SECONDS)
        if run.ending is not None:
            agent.break_off(run)
            answer = broken_off(run, agent.model, agent.offered)
        else:
            answer = final_answer(run.id, turns[0], agent.model, agent.offered)
        self._report_end(run, answer)
        run.settle(answer)

    def _report_end(self, run: Run, answer: Mapping[str, Any]) -> None:
        if answer["ok"] is True or run.ending is None:
            run.report("lifecycle", phase="finishing", aborted=run.ending is not None, endedAt=now())
        if answer["ok"] is True:
            run.report("lifecycle", phase="end", aborted=run.ending is not None, endedAt=now())
        else:
            run.report("lifecycle", phase="error", error=answer["error"]["message"], endedAt=now())

    def _report(self, run_id: str, key: str, stream: str, data: Mapping[str, Any]) -> None:
        payload = {"runId": run_id, "sessionKey": key, "stream": stream, "data": data, "ts": now()}
        with contextlib.suppress(OSError):
            self._event("agent", payload)

    def _give(self, request: Mapping[str, Any], payload: Any) -> None:
        self._send({"type": "res", "id": request.get("id"), "ok": True, "payload": payload})

    def _refuse(self, request: Mapping[str, Any], error: Mapping[str, Any]) -> None:
        self._send({"type": "res", "id": request.get("id"), "ok": False, "error": error})

    def _event(self, name: str, payload: Mapping[str, Any]) -> None:
        self._send({"type": "event", "event": name, "payload": payload})

    def _send(self, frame: Mapping[str, Any]) -> None:
        self._socket.send(json.dumps(frame))  # in ASCII: half a surrogate pair has no UTF-8
