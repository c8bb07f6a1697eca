"""Client of n8n's public REST API and of its health and version pages. Reads only; `audit` is a POST that reads."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from butlerctl.errors import BadDocument, NotOffered, NotPermitted, TryAgain, Unreachable
from butlerctl.n8n.answers import Kind
from butlerctl.n8n.api_answers import ApiAnswer, read_answer
from butlerctl.n8n.http import Limits, Received, failure_text, header_value, make_client, send
from butlerctl.redaction import register_secret

PAGE = 100
"""Rows of a page; n8n gives at most 250."""

PAGE_WITH_DATA = 20
"""Executions of a page when each comes with its data."""

LIMITS = Limits(seconds=30.0, size=64 * 1024 * 1024)
"""Of one request. A page of a hundred large workflows, each in two versions, is far below it."""

_MAX_PAGES = 100
_VERSION_TAG = re.compile(r'<meta name="n8n:config:sentry" content="([A-Za-z0-9+/=]+)"')
_RELEASE = re.compile(r"n8n@(\d[\w.+-]*)")
_SCOPES = {
    "workflows": "workflow:list and workflow:read",
    "executions": "execution:list and execution:read",
    "credentials": "credential:list",
    "tags": "tag:list",
    "audit": "securityAudit:generate",
}


@dataclass(frozen=True, slots=True)
class Health:
    """`alive`: n8n's process answers. `ready`: its database is connected and migrated, and it serves requests."""

    alive: bool
    ready: bool


class N8nApi:
    """One n8n and one API key. Safe to share between threads; close it, or use it as a context manager.

    Every method raises Unreachable when n8n does not answer whole and in time, or something else answers in its
    place; NotPermitted when n8n refuses the key or its scope; NotOffered when this n8n has no such endpoint; TryAgain
    for its 429 and 5xx and while it starts.
    """

    def __init__(self, url: str, api_key: str, *, timeout: float = 10.0, limits: Limits = LIMITS) -> None:
        """`timeout` is in seconds, for each step of a request. Raises BadInput for a key that no header can carry."""
        register_secret(api_key)
        self._url = url.rstrip("/")
        self._limits = limits
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
        """All workflows, each with its tags, its saved and its published version. Archived ones too."""
        query = {} if active is None else {"active": str(active).lower()}
        return [self._sound("workflows", row) for row in self._rows("workflows", query, PAGE)]

    def workflow(self, workflow_id: str) -> dict[str, Any] | None:
        """One workflow, None when n8n knows none of this id."""
        path = f"workflows/{quote(workflow_id, safe='')}"
        found = self._one(path, "id", workflow_id)
        return None if found is None else self._sound(path, found)

    def workflow_version(self, workflow_id: str, version_id: str) -> dict[str, Any] | None:
        """An older version: nodes and connections. None when n8n has it no more."""
        path = f"workflows/{quote(workflow_id, safe='')}/{quote(version_id, safe='')}"
        return self._one(path, "versionId", version_id)

    def executions(
        self, workflow_id: str, *, limit: int = PAGE_WITH_DATA, status: str = "", with_data: bool = True
    ) -> Iterator[dict[str, Any]]:
        """The newest executions first, at most `limit`; a page is asked for when its first row is.

        One that still runs is listed only with `status="running"`. With data each holds the whole webhook request,
        the secret in its header included: redact first.
        """
        query = {"workflowId": workflow_id, "includeData": str(with_data).lower()}
        query |= {"status": status} if status else {}
        page = min(limit, PAGE_WITH_DATA if with_data else PAGE)
        for number, row in enumerate(self._rows("executions", query, page), 1):
            yield row
            if number >= limit:
                return

    def execution(self, execution_id: str) -> dict[str, Any] | None:
        """One execution with its data (redact first), None when n8n knows none of this id: its own are numbers.

        What n8n holds back because it is large is asked for again; n8n before 2.28 holds nothing back and takes no
        such wish. `executions.data_missing` says what stays out all the same.
        """
        if not (execution_id.isascii() and execution_id.isdigit()):
            return None
        path, query = f"executions/{execution_id}", {"includeData": "true"}
        found = self._one(path, "id", execution_id, query)
        if found and found.get("dataTooLargeToDisplay"):
            try:
                return self._one(path, "id", execution_id, query | {"ignoreDataSizeLimit": "true"})
            except AnswerTooLarge:
                return found
        return found

    def credentials(self) -> list[dict[str, Any]]:
        """Id, name and type of every credential; never data. n8n 1 has no such endpoint: NotOffered."""
        found = list(self._rows("credentials", {}, PAGE))
        if not all(isinstance(row.get(key), str) for row in found for key in ("name", "type")):
            raise self._not_the_api("credentials", "a credential without name or type")
        return found

    def tags(self) -> list[dict[str, Any]]:
        """Id and name of every tag."""
        return list(self._rows("tags", {}, PAGE))

    def audit(self, categories: Sequence[str] = ("instance", "nodes")) -> dict[str, Any]:
        """n8n's own security report, by title. Of `credentials, database, nodes, filesystem, instance`."""
        body = {"additionalOptions": {"categories": list(categories)}}
        answer = self._asked("POST", "audit", body=body)
        reports = answer.document
        if reports == []:  # n8n has nothing to tell
            return {}
        if (
            not isinstance(reports, dict)
            or not all(isinstance(each, dict) for each in reports.values())
            or not reports
        ):
            raise self._not_the_api("audit", "no report")
        return reports

    def health(self) -> Health:
        """Whether n8n is up and ready. Needs no API key. Raises Unreachable when nobody answers."""
        return Health(self._says_status("healthz"), self._says_status("healthz/readiness"))

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

    def _says_status(self, path: str) -> bool:
        answer = self._send(f"{self._url}/{path}", {}, {})
        found = read_answer(answer.status, answer.headers, answer.body)
        return found.tagged and found.document == {"status": "ok"}

    def _rows(self, path: str, query: Mapping[str, str], page: int) -> Iterator[dict[str, Any]]:
        """The rows of a list, page after page. A list is never empty because somebody said 404.

        A row that comes twice, because something was added or taken away between two pages, is told once.
        """
        wanted = {**query, "limit": str(page)}
        told: set[str] = set()
        cursors: set[str] = set()
        for _ in range(_MAX_PAGES):
            document = self._asked("GET", path, query=wanted).document
            is_page = isinstance(document, dict) and "nextCursor" in document
            rows = document.get("data") if is_page else None
            if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
                raise self._not_the_api(path, "no list of objects")
            for row in rows:
                if str(row["id"]) not in told:
                    told.add(str(row["id"]))
                    yield row
            cursor = str(document["nextCursor"] or "")
            if not cursor:
                return
            if cursor in cursors:
                raise self._not_the_api(path, "a list that leads back to itself")
            cursors.add(cursor)
            wanted["cursor"] = cursor
        raise BadDocument(f"n8n's list of {path} does not end after {_MAX_PAGES} pages")

    def _one(
        self, path: str, key: str, wanted: str, query: Mapping[str, str] | None = None
    ) -> dict[str, Any] | None:
        """The object that has `wanted` under `key`; None when n8n itself says that there is none."""
        answer = self._ask("GET", path, query=query)
        if answer.is_unknown_id:
            return None
        self._raise_for(answer, "GET", path)
        return self._object(answer, path, key, wanted)

    def _object(self, answer: ApiAnswer, path: str, key: str, wanted: str) -> dict[str, Any]:
        document = answer.document
        if not isinstance(document, dict) or str(document.get(key)) != wanted:
            raise self._not_the_api(path, f"a document without {key} {wanted}")
        return document

    def _sound(self, path: str, workflow: dict[str, Any]) -> dict[str, Any]:
        if not is_workflow(workflow):
            raise self._not_the_api(path, f"{workflow['id']} has not the shape of a workflow")
        return workflow

    def _asked(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> ApiAnswer:
        """A success."""
        answer = self._ask(method, path, query=query, body=body)
        self._raise_for(answer, method, path)
        return answer

    def _raise_for(self, answer: ApiAnswer, method: str, path: str) -> None:
        if answer.kind is Kind.NOT_READY or answer.status >= 400:
            raise refusal(answer, f"{method} /api/v1/{path}", _SCOPES.get(path.split("/", maxsplit=1)[0], ""))

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> ApiAnswer:
        """What n8n itself answered to one request to the API."""
        url = f"{self._url}/api/v1/{path}"
        received = self._send(url, query or {}, {"X-N8N-API-KEY": self._key}, method=method, body=body)
        if received.cut:
            raise AnswerTooLarge(f"the answer at {url} is longer than {self._limits.size // 1024**2} MiB")
        answer = read_answer(received.status, received.headers, received.body)
        if answer.foreign:
            raise self._not_the_api(path, answer.foreign, answer.kind)
        if answer.is_unknown_endpoint:
            raise Unreachable(
                f"this n8n has no endpoint {method} /api/v1/{path.split('/', maxsplit=1)[0]} at {self._url}",
                hint="n8n.url must end where n8n's own addresses begin: no /api/v1 in it",
            )
        return answer

    def _send(
        self,
        url: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        *,
        method: str = "GET",
        body: Mapping[str, Any] | None = None,
    ) -> Received:
        import httpx

        try:
            return send(
                self._client,
                method,
                url,
                self._limits,
                params=dict(query),
                headers=dict(headers) | ({} if body is None else {"Content-Type": "application/json"}),
                content=None if body is None else _encoded(body),
            )
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise Unreachable(
                f"n8n did not answer at {self._url}: {failure_text(error, url)}",
                hint="check n8n.url in the inventory, and that n8n runs",
            ) from error

    def _not_the_api(self, path: str, what: str, kind: Kind = Kind.FOREIGN) -> Unreachable:
        return Unreachable(
            f"something other than n8n's API answered at {self._url}/api/v1/{path}: {what}",
            hint=self._advice(kind),
        )

    def _advice(self, kind: Kind) -> str:
        """n8n's health pages tell a wrong path from a wrong host, and an n8n that is only starting from both."""
        if kind is Kind.EDITOR:
            return "the path in n8n.url is wrong, or this n8n's public API is switched off"
        try:
            found = self.health()
        except Unreachable:
            found = Health(alive=False, ready=False)
        if found.alive and not found.ready:
            return "n8n is alive there and not ready yet: try again in a moment"
        if found.alive:
            return "n8n itself is alive there: something in front of it answers for its API"
        return (
            "n8n.url must be the address of n8n itself, with the right path, and without a sign-in page or a"
            " redirect in front"
        )


def _encoded(body: Mapping[str, Any]) -> bytes:
    """As ASCII: half of a surrogate pair has no bytes of its own."""
    try:
        return json.dumps(body, allow_nan=False).encode()
    except ValueError as error:
        raise BadDocument(f"{body.get('name', 'the body')!r} cannot be sent as JSON: {error}") from error


def is_workflow(document: Mapping[str, Any]) -> bool:
    """Has it the shape on which everything rests that reads a workflow, in what is saved and in what is published?"""
    published = document.get("activeVersion")
    return (
        _has_nodes(document)
        and _are_objects(document, "connections", "settings")
        and (published is None or (isinstance(published, Mapping) and _has_nodes(published)))
    )


def _has_nodes(version: Mapping[str, Any]) -> bool:
    nodes = version.get("nodes")
    return isinstance(nodes, list) and all(
        isinstance(node, Mapping) and _are_objects(node, "parameters", "credentials") for node in nodes
    )


def _are_objects(owner: Mapping[str, Any], *keys: str) -> bool:
    """Or not there, or empty."""
    return all(isinstance(owner.get(key) or {}, Mapping) for key in keys)


class AnswerTooLarge(Unreachable):
    """An answer was cut at the limit: what it says is not known."""


def refusal(answer: ApiAnswer, asked: str, scopes: str) -> TryAgain | NotPermitted | NotOffered | BadDocument:
    """What n8n's own no means for a request that only reads."""
    said = f"({answer.message})"
    if answer.kind is Kind.NOT_READY:
        return TryAgain(f"n8n is not ready yet {said}")
    if answer.status in (401, 403):
        why = "the API key was refused" if answer.status == 401 else "the API key lacks the scope"
        needs = f"n8n.api_key needs {scopes}"
        advice = (
            needs
            if answer.status == 403
            else "make a key in n8n's settings, and put it where n8n.api_key points"
        )
        return NotPermitted(f"n8n: {why} for {asked} {said}", hint=advice)
    if answer.status == 405:
        return NotOffered(f"this n8n has no {asked} {said}")
    if answer.status == 429 or answer.status >= 500:
        return TryAgain(f"n8n answered {asked} with {answer.status} {said}")
    return BadDocument(f"n8n refused {asked} with {answer.status} {said}")
