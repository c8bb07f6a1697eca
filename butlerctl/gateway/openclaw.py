"""An OpenClaw gateway over HTTP: ask with a session key, then read that session's transcript.

Never the gateway's command line: without a gateway it runs the agent by itself, and says nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from butlerctl.errors import BadInput, NotPermitted, TryAgain, Unreachable
from butlerctl.gateway.http import client_for
from butlerctl.gateway.interface import TurnRecord
from butlerctl.gateway.rows import messages_of, provider_failure, with_delivered
from butlerctl.redaction import redact, redact_text, register_secret

if TYPE_CHECKING:
    import httpx

_SHORT_SECONDS = 10.0
# The gateway relays a provider's failure in its own words; 408 is a provider's 5xx.
_PROVIDER_STATUSES = frozenset({402, 408, 429})
_PROVIDER_MESSAGE = re.compile(r"^[45]\d\d\b|provider|FailoverError")


class _NoAnswer(Unreachable):
    """The request went out, and no whole answer came back: what the agent did is unknown."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How the gateway answered: the delivered text, or the provider's failure, or not at all."""

    reply: str = ""
    failure: Mapping[str, Any] | None = None
    lost: bool = False


class OpenClawGateway:
    """Talks to `url`. `agent` is the agent's id, `timeout` the seconds that one turn may take."""

    def __init__(self, url: str, token: str, *, agent: str, timeout: float = 60.0) -> None:
        register_secret(token)
        self._url = url.rstrip("/")
        self._agent = agent
        self._timeout = timeout
        self._asked: dict[str, None] = {}
        self._client = client_for(self._url, headers={"Authorization": f"Bearer {token}"} if token else {})

    def ask(self, prompt: str, *, session: str) -> TurnRecord:
        """See `AgentGateway.ask`."""
        started, clock = datetime.now(UTC), time.monotonic()
        outcome = self._ask(prompt, session)
        self._asked[f"agent:{self._agent}:{session}"] = None
        rows, whole = self._history(session)
        transcript: dict[str, Any] = {
            "kind": "transcript",
            "at": started.isoformat(timespec="milliseconds"),
            "messages": with_delivered(messages_of(rows), outcome.reply),
            "complete": whole and not outcome.lost and not _hides_calls(rows),
        }
        if outcome.failure is not None:
            transcript["completions"] = [provider_failure(rows) or outcome.failure]
        elapsed_ms = int((time.monotonic() - clock) * 1000)
        return TurnRecord(session, redact_text(outcome.reply), redact(transcript), (), started, elapsed_ms)

    def version(self) -> str | None:
        """The gateway's version through its admin plugin; None where that is not enabled.

        Raises:
            Unreachable: nothing answers, or a page or a redirect that no gateway sends.
        """
        response = self._send("POST", "/api/v1/admin/rpc", json={"method": "status", "params": {}})
        if response.is_redirect or "html" in response.headers.get("content-type", ""):
            raise Unreachable(
                f"something other than the agent gateway answers at {self._url}: status {response.status_code}",
                hint="gateway.url must be the gateway itself, without a sign-in page or a redirect in front",
            )
        document = _document(response)
        payload = document.get("payload") if response.status_code == 200 else None
        version = payload.get("runtimeVersion") if isinstance(payload, Mapping) else None
        return version if isinstance(version, str) else None

    def end_sessions(self) -> tuple[str, ...]:
        """Every session stays: over HTTP the gateway deletes none."""
        return tuple(self._asked)

    def close(self) -> None:
        self._client.close()

    def _ask(self, prompt: str, session: str) -> _Outcome:
        request = {"model": f"openclaw/{self._agent}", "messages": [{"role": "user", "content": prompt}]}
        headers = {"x-openclaw-session-key": session}
        try:
            response = self._send(
                "POST", "/v1/chat/completions", json=request, headers=headers, timeout=self._timeout
            )
        except _NoAnswer:
            return _Outcome(lost=True)
        document = _document(response)
        if response.status_code == 200:
            return _Outcome(reply=self._reply(document))
        if _is_providers(response.status_code, _error(document)):
            return _Outcome(failure={"http_status": response.status_code, "body": document})
        raise self._refusal(response, document)

    def _reply(self, document: Mapping[str, Any]) -> str:
        choices = document.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(message, Mapping):
            raise self._not_a_gateway("its answer is no chat completion")
        content = message.get("content")
        return content if isinstance(content, str) else ""

    def _history(self, session: str) -> tuple[list[Mapping[str, Any]], bool]:
        """All rows of the session, and whether these are all of them."""
        try:
            response = self._send(
                "GET", f"/sessions/{quote(session, safe='')}/history", timeout=_SHORT_SECONDS
            )
        except Unreachable:
            return [], False
        document = _document(response)
        rows = document.get("messages", document.get("items"))
        if response.status_code != 200 or not isinstance(rows, list):
            return [], False
        return [row for row in rows if isinstance(row, Mapping)], not document.get("hasMore", False)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request; every failure of the network is typed here."""
        import httpx

        try:
            response = self._client.request(
                method, f"{self._url}{path}", **{"timeout": _SHORT_SECONDS, **options}
            )
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise BadInput(f"the gateway's address {self._url!r} is none: {error}") from error
        except (httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError) as error:
            raise _NoAnswer(f"the agent gateway at {self._url} gave no answer: {_said(error)}") from error
        except httpx.HTTPError as error:
            raise Unreachable(
                f"the agent gateway at {self._url} does not answer: {_said(error)}",
                hint="is it running, and is gateway.url of the inventory right?",
            ) from error
        if response.status_code == 401 and _error(_document(response)).get("type") == "unauthorized":
            raise NotPermitted(
                f"the agent gateway at {self._url} refuses the token",
                hint="gateway.token of the inventory must be the gateway's own token",
            )
        return response

    def _refusal(self, response: httpx.Response, document: Mapping[str, Any]) -> Exception:
        message = str(_error(document).get("message", ""))
        told = f"the agent gateway at {self._url} answers {response.status_code}"
        if message and response.status_code in (500, 503):
            return TryAgain(f"{told}: {redact_text(message)}", hint="look into the gateway's log")
        if message:
            return BadInput(
                f"{told}: {redact_text(message)}", hint="is gateway.agent of the inventory right?"
            )
        if response.status_code in (502, 503, 504):
            return Unreachable(
                f"{told} with a page that is not the gateway's: something stands in front of it"
            )
        if response.status_code == 404:
            return BadInput(
                f"{told}: it has no /v1/chat/completions",
                hint="set gateway.http.endpoints.chatCompletions.enabled in openclaw.json",
            )
        return self._not_a_gateway(f"it answers {response.status_code}")

    def _not_a_gateway(self, why: str) -> BadInput:
        return BadInput(
            f"{self._url} is no OpenClaw gateway: {why}", hint="is gateway.url of the inventory right?"
        )


def _hides_calls(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the history has a result without its call: it leaves out calls that stand beside text."""
    made = {str(call["id"]) for message in messages_of(rows) for call in message.get("tool_calls", ())}
    return any(row.get("role") == "toolResult" and str(row.get("toolCallId")) not in made for row in rows)


def _said(error: Exception) -> str:
    return redact_text(str(error)) or type(error).__name__


def _document(response: httpx.Response) -> Mapping[str, Any]:
    """The body as a JSON object; {} for everything else, such as a page."""
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, Mapping) else {}


def _error(document: Mapping[str, Any]) -> Mapping[str, Any]:
    error = document.get("error")
    return error if isinstance(error, Mapping) else {}


def _is_providers(status: int, error: Mapping[str, Any]) -> bool:
    """Whether this failure is the model provider's, relayed by the gateway."""
    if not error:
        return False
    return status in _PROVIDER_STATUSES or _PROVIDER_MESSAGE.search(str(error.get("message", ""))) is not None
