"""A webhook server that keeps the contract of n8n's answers, for the tests of gateways: a dozen lines of state."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from werkzeug.wrappers import Request, Response

from butlerctl.protocol.tools import ProfileShape

SECRET = "s3cret-of-the-webhook"
PERSON = ProfileShape(("Household",), ("Log", "butler verify"), ("date", "item", "amount"))
HOUSEHOLD = {"husband": PERSON, "wife": PERSON}


@dataclass
class ContractN8n:
    """`answer` overrides every answer: (status, content type, body). `objects` maps a webhook path to its writes."""

    answer: tuple[int, str, str] | None = None
    delay: float = 0.0
    objects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def app(self) -> Any:
        return Request.application(self._answer)

    def _answer(self, request: Request) -> Response:
        body = request.get_json(force=True)
        self.requests.append({"path": request.path, "headers": dict(request.headers), "body": body})
        time.sleep(self.delay)
        if self.answer is not None:
            status, content_type, text = self.answer
            location = {"Location": "/elsewhere"} if 300 <= status < 400 else {}
            return Response(text, status, location, content_type=content_type)
        if request.headers.get("X-L4CK3Y-Auth") != SECRET:
            return _json({"code": 403, "message": "Authorization data is wrong!"}, 403)
        parts = request.path.strip("/").split("/")
        if len(parts) != 5 or parts[0] != "webhook" or parts[4] not in HOUSEHOLD:
            message = f'The requested webhook "POST {request.path}" is not registered.'
            return _json({"code": 404, "message": message}, 404)
        return _json({"ok": True, "data": self._data(parts, body), "execution": str(len(self.requests))})

    def _data(self, parts: list[str], body: dict[str, Any]) -> dict[str, Any]:
        domain, verb, profile = parts[2:]
        kept = self.objects.setdefault(f"{domain}/{profile}", [])
        if verb in ("add", "append"):
            item = _stored(domain, body, len(kept) + 1)
            kept.append(item)
            return item
        items = [_row(item) for item in kept] if domain == "sheets" else kept
        return {"count": len(items), "complete": True, "items": items}


def _stored(domain: str, body: dict[str, Any], number: int) -> dict[str, Any]:
    if domain == "calendar":
        times = {key: {"dateTime": body[key], "timeZone": "America/New_York"} for key in ("start", "end")}
        return {"id": f"event{number}", "summary": body["summary"], **times, "status": "confirmed"}
    if domain == "tasks":
        due = f"{body['due']}T00:00:00.000Z" if "due" in body else None
        return {"id": f"task{number}", "title": body["title"], "due": due, "status": "needsAction"}
    return {"id": f"{body['sheet']}!A{number + 1}", "row_number": number + 1, "values": body["values"]}


def _row(item: dict[str, Any]) -> dict[str, Any]:
    return {"row_number": item["row_number"], **dict(zip(PERSON.columns, item["values"], strict=True))}


def _json(document: Any, status: int = 200) -> Response:
    return Response(json.dumps(document), status, content_type="application/json; charset=utf-8")
