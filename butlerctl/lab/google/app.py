"""The WSGI application: route, authorise, validate, work, check the own answer, and say it."""

from __future__ import annotations

import json
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from butlerctl.lab.google import calendar, sheets, tasks
from butlerctl.lab.google.call import Call, Handler
from butlerctl.lab.google.discovery import Found, route
from butlerctl.lab.google.errors import (
    HTML_NOT_FOUND,
    Answer,
    GoogleError,
    bad_request,
    json_answer,
    render,
)
from butlerctl.lab.google.faults import DROP, Fault, Faults
from butlerctl.lab.google.fields import select
from butlerctl.lab.google.schema import Checker, Mismatch, parse_parameter
from butlerctl.lab.google.store import Store
from butlerctl.lab.google.switches import Knobs, Switches
from butlerctl.lab.google.tokens import Tokens

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HANDLERS: Mapping[str, Handler] = {**calendar.HANDLERS, **tasks.HANDLERS, **sheets.HANDLERS}


@dataclass(frozen=True, slots=True)
class Logged:
    """One request without its credentials, and the status of the answer (None: the connection was closed)."""

    method: str
    verb: str
    path: str
    query: str
    user: str | None
    headers: Mapping[str, str]
    body: str
    status: int | None


class Application:
    """Answers as Google does at `/calendar/v3`, `/tasks/v1`, `/v4` and `/token`."""

    def __init__(self, store: Store, switches: Switches, knobs: Knobs) -> None:
        self.store = store
        self.switches = switches
        self.knobs = knobs
        self.tokens = Tokens(store, switches)
        self.faults = Faults()
        self.log: deque[Logged] = deque(maxlen=10_000)
        self.own_faults: list[str] = []
        """Answers of the emulator that do not fit Google's own schemas; a test holds this empty."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        request.get_data(cache=True)
        raw_path = environ.get("RAW_URI", request.path).partition("?")[0]
        name, user, answer = self._serve(request, raw_path)
        status = answer.status if isinstance(answer, Answer) else None
        self._remember(request, name, raw_path, user, status)
        if not isinstance(answer, Answer):
            return _hang_up(environ)
        headers = [*answer.headers, ("Content-Type", answer.content_type)]
        if answer.status == 204:
            headers = list(answer.headers)
        return Response(answer.body, answer.status, headers)(environ, start_response)

    def _serve(self, request: Request, raw_path: str) -> tuple[str, str | None, Answer | str]:
        """The method's id, the user, and the answer (or DROP)."""
        if raw_path == "/token" and request.method == "POST":
            struck = self.faults.strike("token", None, request.form.get("client_id"))
            return "token", None, self._under_fault(struck, "token", lambda _: self._token(request))
        found = route(request.method, raw_path)
        if found is None:
            return "", None, HTML_NOT_FOUND
        method = found.method
        bearer = request.headers.get("Authorization", "")
        try:
            with self.store.lock:
                user = self.tokens.authorise(bearer, method.scopes)
                client = self.tokens.client_of(bearer)
        except GoogleError as error:
            return method.id, None, render(method.api, error)
        struck = self.faults.strike(method.id, user, client)
        answer = self._under_fault(struck, method.api, lambda fault: self._work(found, request, user, fault))
        return method.id, user, answer

    def _under_fault(
        self, fault: Fault | None, api: str, work: Callable[[Fault | None], Answer]
    ) -> Answer | str:
        """The work with the fault that strikes it, if there is one."""
        if fault is None:
            return work(None)
        time.sleep(fault.delay)
        answer: Answer | str | None = None
        for _ in range(fault.work):
            answer = work(fault)
        time.sleep(fault.delay_after)
        return fault.answer_for(api) or answer or DROP

    def _token(self, request: Request) -> Answer:
        form = dict(request.form)
        if request.authorization and request.authorization.type == "basic":
            form["client_id"] = request.authorization.username or ""
            form["client_secret"] = request.authorization.password or ""
        with self.store.lock:
            return self.tokens.answer(form)

    def _work(self, found: Found, request: Request, user: str, fault: Fault | None) -> Answer:
        method = found.method
        try:
            handler = HANDLERS.get(method.id, _not_emulated)
            call = self._call(found, request, user, fault)
            with self.store.lock:
                document = self._handle(handler, call, forget=bool(fault and fault.forget))
                answer = self._checked(found, document, call.get("fields"))
        except GoogleError as error:
            return render(method.api, error)
        return answer

    def _handle(self, handler: Handler, call: Call, *, forget: bool) -> dict[str, Any] | None:
        if not forget:
            return handler(call)
        store = self.store
        before = deepcopy((store.calendars, store.task_lists, store.spreadsheets))
        document = deepcopy(handler(call))
        store.calendars, store.task_lists, store.spreadsheets = before
        return document

    def _call(self, found: Found, request: Request, user: str, fault: Fault | None) -> Call:
        try:
            parameters = _parameters(found, request)
            body = self._body(found, request)
            if fault and fault.rewrite:
                body = fault.rewrite(body)
        except Mismatch as mismatch:
            raise bad_request(_edge_text(found.method.api, mismatch), "invalid") from None
        return Call(
            user=user,
            parameters=parameters,
            body=body,
            if_match=request.headers.get("If-Match"),
            store=self.store,
            switches=self.switches,
            knobs=self.knobs,
        )

    def _body(self, found: Found, request: Request) -> dict[str, Any]:
        name = found.method.request
        if name is None or not request.data:
            return {}
        try:
            document = json.loads(request.data)
        except ValueError as error:
            raise Mismatch(f"Invalid JSON payload received. {error}") from None
        switches = self.switches
        lenient = found.method.api == "calendar"
        unknown = switches.calendar_unknown_fields if lenient else switches.tasks_sheets_unknown_fields
        checked: dict[str, Any] = Checker(found.api.schemas, unknown).check(name, document)
        return checked

    def _checked(self, found: Found, document: dict[str, Any] | None, fields: str | None) -> Answer:
        """The answer, held against Google's own description of it."""
        if document is None:
            return Answer(204)
        try:
            Checker(found.api.schemas).check(found.method.response or "", document)
        except Mismatch as mismatch:
            self.own_faults.append(f"{found.method.id}: {mismatch}")
            raise GoogleError(
                500, "emulatorFault", f"the emulator's own answer is wrong: {mismatch}"
            ) from None
        return json_answer(200, select(document, fields) if fields else document)

    def _remember(
        self, request: Request, name: str, raw_path: str, user: str | None, status: int | None
    ) -> None:
        self.log.append(
            Logged(
                method=name,
                verb=request.method,
                path=raw_path,
                query=request.query_string.decode(),
                user=user,
                headers={
                    key.lower(): value for key, value in request.headers.items() if key != "Authorization"
                },
                body="" if name == "token" else request.get_data(as_text=True),
                status=status,
            )
        )


def _not_emulated(_call: Call) -> None:
    raise GoogleError(501, "notImplemented", "This method is not part of the emulator.")


def _edge_text(api: str, mismatch: Mismatch) -> str:
    return "Bad Request" if api == "calendar" else f"Invalid JSON payload received. {mismatch}"


def _parameters(found: Found, request: Request) -> dict[str, Any]:
    """Typed values of path and query.

    Raises:
        Mismatch: unknown (but for Calendar), missing or of another type.
    """
    described = found.method.parameters
    values: dict[str, Any] = dict(found.path_values)
    for name, texts in request.args.lists():
        schema = described.get(name) or found.api.common_parameters.get(name)
        if schema is None:
            if found.method.api == "calendar":
                continue
            raise Mismatch(f'Unknown name "{name}": Cannot bind query parameter. Field could not be found.')
        typed = [parse_parameter(schema, text, name) for text in texts]
        values[name] = typed if schema.get("repeated") else typed[-1]
    missing = [name for name, schema in described.items() if schema.get("required") and name not in values]
    if missing:
        raise Mismatch(f"Missing required parameter: {missing[0]}")
    return values


def _hang_up(environ: WSGIEnvironment) -> Iterable[bytes]:
    """Close the connection without an answer."""
    connection: socket.socket = environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError("a planted fault")
