"""Client of n8n's public REST API: what is saved, what is published, what ran. Reads only."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from butlerctl.errors import BadDocument, NotPermitted, TryAgain, Unreachable
from butlerctl.n8n.answers import Kind, classify
from butlerctl.n8n.http import failure_text, header_value, make_client
from butlerctl.redaction import redact_text, register_secret

if TYPE_CHECKING:
    import httpx

PAGE = 100
_MAX_PAGES = 100
_VERSION_TAG = re.compile(r'<meta name="n8n:config:sentry" content="([A-Za-z0-9+/=]+)"')
_RELEASE = re.compile(r"n8n@(\d[\w.+-]*)")


class N8nApi:
    """One n8n and one API key. Safe to share between threads; close it, or use it as a context manager.

    Every method raises Unreachable when n8n does not answer or something else answers in its place,
    NotPermitted when the key is refused or lacks the scope, TryAgain for 429 and 5xx.
    """

    def __init__(self, url: str, api_key: str, *, timeout: float = 10.0) -> None:
        """Raises BadInput for a key that no header can carry."""
        register_secret(api_key)
        self._url = url.rstrip("/")
        headers = {"Accept": "application/json"}
        self._client = make_client(url, timeout=timeout, headers=headers)
        self._key = header_value(api_key, "n8n's API key")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def workflows(self, *, active: bool | None = None) -> list[dict[str, Any]]:
        """All workflows, each with its saved and its published version. Archived ones too."""
        query = {} if active is None else {"active": str(active).lower()}
        return list(self._pages("workflows", query))

    def workflow(self, workflow_id: str) -> dict[str, Any] | None:
        """One workflow, None when n8n knows none of this id."""
        return self._get(f"workflows/{workflow_id}")

    def workflow_version(self, workflow_id: str, version_id: str) -> dict[str, Any] | None:
        """An older version: nodes and connections."""
        return self._get(f"workflows/{workflow_id}/{version_id}")

    def executions(
        self, workflow_id: str, *, limit: int = 20, status: str = "", with_data: bool = True
    ) -> list[dict[str, Any]]:
        """The newest executions first, at most 250. One that still runs is listed only with `status="running"`.

        With data each holds the whole webhook request, the secret in its header included: redact first.
        """
        query = {"workflowId": workflow_id, "limit": str(limit), "includeData": str(with_data).lower()}
        answer = self._get("executions", query | ({"status": status} if status else {}))
        return self._rows("executions", answer) if answer else []

    def execution(self, execution_id: str) -> dict[str, Any] | None:
        """One execution with its data (redact first), None when n8n knows none of this id."""
        return self._get(f"executions/{execution_id}", {"includeData": "true"})

    def credentials(self) -> list[dict[str, Any]]:
        """Id, name and type of every credential; never data. n8n 1 has no such endpoint: NotPermitted."""
        return list(self._pages("credentials", {}))

    def version(self) -> str | None:
        """The version that the editor page gives away to anybody, None when it does not. Needs no API key."""
        page = self._send(f"{self._url}/", {}, {})
        tag = _VERSION_TAG.search(page.text)
        try:
            config = json.loads(base64.b64decode(tag[1])) if tag else {}
        except ValueError:
            return None
        found = _RELEASE.fullmatch(str(config.get("release", "")))
        return found[1] if found else None

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        wanted = {**query, "limit": str(PAGE)}
        for _ in range(_MAX_PAGES):
            answer = self._get(path, wanted) or {"data": []}
            yield from self._rows(path, answer)
            if not answer.get("nextCursor"):
                return
            wanted["cursor"] = answer["nextCursor"]
        raise BadDocument(f"n8n's list of {path} does not end after {_MAX_PAGES} pages")

    def _rows(self, path: str, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = answer.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise Unreachable(
                f"something other than n8n's API answered at {self._url}/api/v1/{path}: no list of objects",
                hint="n8n.url must be the address of n8n itself",
            )
        return rows

    def _get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        status, message, document = self._ask("GET", path, query=query)
        if status == 404 and message.lower() == "not found":
            return None
        _raise_for_status(status, path, message)
        return document

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[int, str, dict[str, Any]]:
        """Status, n8n's own message (redacted) and document of one request to the API."""
        url = f"{self._url}/api/v1/{path}"
        answer = self._send(url, query or {}, {"X-N8N-API-KEY": self._key}, method=method, body=body)
        reading = classify(answer.status_code, answer.headers, answer.text, method=method)
        if not reading.kind.by_n8n or not isinstance(reading.document, dict):
            raise _not_the_api(url, answer, reading.kind)
        return answer.status_code, redact_text(str(reading.document.get("message", ""))), reading.document

    def _send(
        self,
        url: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        *,
        method: str = "GET",
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        import httpx

        try:
            return self._client.request(method, url, params=dict(query), headers=dict(headers), json=body)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise Unreachable(
                f"n8n did not answer at {self._url}: {failure_text(error, url)}",
                hint="check n8n.url in the inventory, and that n8n runs",
            ) from error


def _not_the_api(url: str, answer: httpx.Response, kind: Kind) -> Unreachable:
    what = kind.value
    if kind is Kind.REDIRECT:
        what = f"redirect to {redact_text(answer.headers.get('location', '?'))}"
    return Unreachable(
        f"something other than n8n's API answered at {url}: {what}, status {answer.status_code}",
        hint="n8n.url must be the address of n8n itself, without a sign-in page or a redirect in front",
    )


def _raise_for_status(status: int, path: str, message: str) -> None:
    if status in (401, 403, 405):
        why = {
            401: "the API key was refused",
            403: "the API key lacks the scope",
            405: "this n8n has no such list",
        }
        raise NotPermitted(
            f"n8n: {why[status]} for GET /api/v1/{path.split('/', maxsplit=1)[0]} ({message})",
            hint="n8n.api_key needs workflow:list, workflow:read, execution:list, execution:read, credential:list",
        )
    if status == 429 or status >= 500:
        raise TryAgain(f"n8n answered GET /api/v1/{path} with {status} ({message})")
    if status >= 400:
        raise BadDocument(f"n8n refused GET /api/v1/{path} with {status} ({message})")
