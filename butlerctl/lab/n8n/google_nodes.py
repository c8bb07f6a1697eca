"""The Google nodes of the stand-in: the HTTP calls that n8n's nodes make, and what they make of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from urllib.parse import quote

import httpx

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.lab.n8n.credentials import Credential
from butlerctl.n8n.http import make_client
from butlerctl.workflows.google import CALENDAR, SHEETS, TASKS, serves
from butlerctl.workflows.workflow import Node

Item = dict[str, Any]

CREDENTIAL_TYPES: Mapping[str, str] = {
    CALENDAR: "googleCalendarOAuth2Api",
    TASKS: "googleTasksOAuth2Api",
    SHEETS: "googleSheetsOAuth2Api",
}

_STATUS_TEXTS = {
    400: "Bad request - please check your parameters",
    401: "Authorization failed - please check your credentials",
    403: "Forbidden - perhaps check your credentials?",
    404: "The resource you are requesting could not be found",
    429: "The service is receiving too many requests from you",
    503: "Service unavailable - try again later or consider setting this node to retry automatically "
    "(in the node settings)",
}
_CLIENT_REFUSED = (
    "Client authentication failed (e.g., unknown client, no client authentication included, or unsupported "
    "authentication method)."
)
_CLOSED = (
    "The connection to the server was closed unexpectedly, perhaps it is offline. You can retry the request "
    "immediately or wait and retry later."
)


def operation_of(node: dict[str, Any]) -> str | None:
    """The butler's operation that a Google node carries out, or None for any other node."""
    seen = Node(0, node)
    return next((operation.name for operation in OPERATIONS.values() if serves(seen, operation)), None)


class NodeFailure(Exception):
    """A node failed in its own code. `message` is all that the node's error output shows."""

    def __init__(
        self,
        message: str,
        description: str | None = None,
        http_code: str | None = None,
        messages: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.description = description
        self.http_code = http_code
        self.messages = messages


class EngineBreak(Exception):
    """A node broke outside of its own error handling: its input appears on its first output."""


class GoogleCalls:
    """Requests to Google with an n8n credential; refreshes the access token after a 401, as n8n does."""

    def __init__(self, google_url: str) -> None:
        self._url = google_url.rstrip("/")
        self._client = make_client(google_url, timeout=60, headers={"User-Agent": "n8n"})
        self._refreshing = Lock()

    def close(self) -> None:
        self._client.close()

    def request(
        self,
        credential: Credential,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Any:
        """The JSON of the answer; a text where Google sent something else, None for an empty answer."""
        try:
            answer = self._authorised(credential, method, path, query, body)
        except httpx.TransportError as error:
            raise _no_answer(error) from error
        except RuntimeError as error:  # the stand-in was closed while an execution ran on
            raise NodeFailure(_CLOSED) from error
        if answer.status_code >= 400:
            raise _refused(answer)
        try:
            return answer.json() if answer.content else None
        except ValueError:
            return answer.text

    def _authorised(
        self, credential: Credential, method: str, path: str, query: Mapping[str, Any] | None, body: Any
    ) -> httpx.Response:
        token = credential.access_token
        if token is None:
            raise NodeFailure("Unable to sign without access token")
        answer = self._send(token, method, path, query, body)
        if answer.status_code != 401:
            return answer
        return self._send(self._refresh(credential, token), method, path, query, body)

    def _send(
        self, token: str, method: str, path: str, query: Mapping[str, Any] | None, body: Any
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return self._client.request(method, f"{self._url}{path}", params=query, json=body, headers=headers)

    def _refresh(self, credential: Credential, stale: str) -> str:
        with self._refreshing:
            token = credential.access_token
            if token is not None and token != stale:
                return token
            answer = self._client.post(f"{self._url}/token", data=credential.refresh_form())
            if answer.status_code != 200:
                raise _not_refreshed(credential, answer)
            fresh: str = answer.json()["access_token"]
            credential.keep_access_token(fresh)
            return fresh


def _no_answer(error: httpx.TransportError) -> NodeFailure:
    if isinstance(error, httpx.ConnectError):
        return NodeFailure(
            "The service refused the connection - perhaps it is offline", http_code="ECONNREFUSED"
        )
    if isinstance(error, httpx.TimeoutException):
        text = "The connection timed out, consider setting the 'Retry on Fail' option in the node settings"
        return NodeFailure(text, http_code="ETIMEDOUT")
    return NodeFailure(_CLOSED, http_code="ECONNRESET")


def _refused(answer: httpx.Response) -> NodeFailure:
    status = answer.status_code
    general = (
        "The service was not able to process your request"
        if status >= 500
        else "Your request is invalid or could not be processed by the service"
    )
    return NodeFailure(
        _STATUS_TEXTS.get(status, general), _google_text(answer), str(status), (f"{status} - {answer.text}",)
    )


def _google_text(answer: httpx.Response) -> str | None:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return None


def _not_refreshed(credential: Credential, answer: httpx.Response) -> NodeFailure:
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        error = ""
    if error == "invalid_grant":
        return NodeFailure(f'The credential "{credential.name}" needs to be reconnected.')
    if error == "invalid_client":
        return NodeFailure(_CLIENT_REFUSED, http_code="EAUTH")
    return _refused(answer)


@dataclass(frozen=True, slots=True)
class GoogleNode:
    """One Google node at work: its resolved parameters, its credential, the workflow's time zone."""

    parameters: Mapping[str, Any]
    credential: Credential
    calls: GoogleCalls
    timezone: str

    def get(self, path: str, **query: Any) -> Any:
        return self.calls.request(self.credential, "GET", path, query=query)

    def send(self, method: str, path: str, body: Any, **query: Any) -> Any:
        return self.calls.request(self.credential, method, path, query=query, body=body)


def run(operation: str, node: GoogleNode) -> list[Item]:
    """The items on the node's first output. Raises NodeFailure or EngineBreak."""
    return _RUNS[operation](node)


def _value(located: Any) -> str:
    """The value of a resource locator, or the plain parameter."""
    return str(located["value"] if isinstance(located, Mapping) else located)


def _read(answer: Any, name: str) -> Any:
    """A property of an answer, as JavaScript reads it: nothing of a text, an exception of nothing."""
    if answer is None:
        raise NodeFailure(f"Cannot read properties of undefined (reading '{name}')")
    return answer.get(name) if isinstance(answer, Mapping) else None


def _as_items(answer: Any) -> list[Item]:
    return [dict(answer) if isinstance(answer, Mapping) else {}]


def _events_path(node: GoogleNode) -> str:
    return f"/calendar/v3/calendars/{quote(_value(node.parameters['calendar']), safe='')}/events"


def _utc(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return "Invalid date"
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _calendar_list(node: GoogleNode) -> list[Item]:
    wanted = node.parameters
    query = {
        "timeMin": wanted.get("timeMin"),
        "timeMax": wanted.get("timeMax"),
        "singleEvents": "true",
        "orderBy": wanted.get("options", {}).get("orderBy"),
        "maxResults": wanted.get("limit", 50),
    }
    answer = node.get(_events_path(node), **{key: value for key, value in query.items() if value is not None})
    items = _read(answer, "items")
    if items is None:
        raise EngineBreak
    return list(items)


def _calendar_add(node: GoogleNode) -> list[Item]:
    wanted = node.parameters
    times = {key: {"dateTime": _utc(str(wanted[key])), "timeZone": node.timezone} for key in ("start", "end")}
    fields = wanted.get("additionalFields", {})
    texts = {key: fields[key] for key in ("description", "summary") if fields.get(key)}
    return _as_items(node.send("POST", _events_path(node), {**times, **texts, "recurrence": []}))


def _tasks_path(node: GoogleNode) -> str:
    return f"/tasks/v1/lists/{quote(str(node.parameters['task']), safe='')}/tasks"


def _tasks_list(node: GoogleNode) -> list[Item]:
    query: dict[str, Any] = {
        "showCompleted": str(bool(node.parameters.get("additionalFields", {}).get("showCompleted"))).lower(),
        "showDeleted": "false",
        "showHidden": "false",
    }
    if not node.parameters.get("returnAll"):
        items = _read(
            node.get(_tasks_path(node), maxResults=node.parameters.get("limit", 20), **query), "items"
        )
        if items is None:
            raise EngineBreak
        return list(items)
    found: list[Item] = []
    while True:
        answer = node.get(_tasks_path(node), maxResults=100, **query)
        page = _read(answer, "nextPageToken")
        found += _read(answer, "items") or []
        if not page:
            return found
        query["pageToken"] = page


def _tasks_add(node: GoogleNode) -> list[Item]:
    body = {"title": node.parameters["title"]}
    due = node.parameters.get("additionalFields", {}).get("dueDate")
    return _as_items(node.send("POST", _tasks_path(node), body | ({"due": due} if due else {})))


def _book_path(node: GoogleNode) -> str:
    return f"/v4/spreadsheets/{quote(_value(node.parameters['documentId']), safe='')}"


def _tab(node: GoogleNode) -> Mapping[str, Any]:
    name = _value(node.parameters["sheetName"])
    sheets = _read(node.get(_book_path(node), fields="sheets.properties"), "sheets")
    if sheets is None:
        raise NodeFailure("Cannot read properties of undefined (reading 'find')")
    for sheet in sheets:
        properties: Mapping[str, Any] = sheet["properties"]
        if properties["title"] == name:
            return properties
    raise NodeFailure(f"Sheet with name {name} not found")


def _rows(node: GoogleNode, tab: Mapping[str, Any], render: str) -> list[list[Any]]:
    path = f"{_book_path(node)}/values/{quote(_quoted(tab['title']), safe='')}"
    answer = node.get(path, valueRenderOption=render, dateTimeRenderOption="FORMATTED_STRING")
    return _read(answer, "values") or []


def _quoted(title: str) -> str:
    return "'" + title.replace("'", "''") + "'"


def _sheets_read(node: GoogleNode) -> list[Item]:
    rows = _rows(node, _tab(node), "UNFORMATTED_VALUE")
    if not rows:
        return []
    header, *data = rows
    return [
        {
            "row_number": number,
            **{str(name): row[at] if at < len(row) else "" for at, name in enumerate(header)},
        }
        for number, row in enumerate(data, start=2)
    ]


def _sheets_append(node: GoogleNode) -> list[Item]:
    tab = _tab(node)
    rows = _rows(node, tab, "FORMATTED_VALUE")
    values: Item = dict(node.parameters["columns"]["value"])
    header = [str(name) for name in rows[0]] if rows else list(values)
    if not set(values) <= set(header):
        raise NodeFailure("Column names were updated after the node's setup")
    grow = {"appendDimension": {"sheetId": str(tab["sheetId"]), "dimension": "ROWS", "length": 1}}
    node.send("POST", f"{_book_path(node)}:batchUpdate", {"requests": [grow]})
    line = f"{_quoted(tab['title'])}!{len(rows) + 1}:{len(rows) + 1}"
    body = {"range": line, "values": [[values.get(name, "") for name in header]]}
    path = f"{_book_path(node)}/values/{quote(line, safe='')}"
    node.send("PUT", path, body, valueInputOption="USER_ENTERED")
    return [values]


_RUNS: Mapping[str, Callable[[GoogleNode], list[Item]]] = {
    "calendar_list": _calendar_list,
    "calendar_add": _calendar_add,
    "tasks_list": _tasks_list,
    "tasks_add": _tasks_add,
    "sheets_read": _sheets_read,
    "sheets_append": _sheets_append,
}
