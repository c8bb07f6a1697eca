"""The one door to Google: credentials, service objects, and answers with typed problems.

No other module imports Google's packages. The traps that this module keeps shut: `token_uri` of a file is
ignored by the client, proxies apply to loopback, connections are not safe to share between threads,
errors of Sheets have another shape, and a write must never be repeated by the library.
"""

from __future__ import annotations

import json
import logging
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import google_auth_httplib2
import httplib2
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from butlerctl.errors import (
    BadInput,
    ButlerctlError,
    NotPermitted,
    TryAgain,
    Unreachable,
)
from butlerctl.redaction import redact, redact_cut, redact_text, register_secret

GOOGLE_TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_PATH = {"calendar": "/calendar/v3/", "tasks": "/", "sheets": "/"}
_VERSION = {"calendar": "v3", "tasks": "v1", "sheets": "v4"}
_SCOPE = "https://www.googleapis.com/auth/"
WRITE_SCOPES: Mapping[str, frozenset[str]] = {
    "calendar": frozenset(_SCOPE + name for name in ("calendar", "calendar.events", "calendar.events.owned")),
    "tasks": frozenset({_SCOPE + "tasks"}),
    "sheets": frozenset(_SCOPE + name for name in ("spreadsheets", "drive", "drive.file")),
}
_RATE_REASONS = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "quotaExceeded",
        "dailyLimitExceeded",
        "RESOURCE_EXHAUSTED",
    }
)
_SCOPE_REASONS = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_API_OFF_REASONS = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})

_building = threading.Lock()

# The libraries warn about every retry; what matters of it becomes a problem of an Answer.
for _name in ("googleapiclient", "google.auth", "google.oauth2", "google_auth_httplib2"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Answer:
    """What Google said. `status` is None when nothing came back; `problem` is None for a 2xx."""

    status: int | None
    body: Any
    problem: ButlerctlError | None = None


class Account:
    """One person's Google, read with the credential that belongs to butlerctl (never to n8n).

    Safe to use from several threads: each has a connection of its own. Use as a context manager.
    """

    def __init__(
        self, profile: str, token: str, *, url: str = "", timeout: float = 10.0, retries: int = 3
    ) -> None:
        """`token` is authorized-user JSON, `url` the base of all of Google (empty: Google itself).

        `timeout` is in seconds for one request; a failed read is repeated up to `retries` times.

        Raises:
            BadInput: the token is no authorized-user JSON.
        """
        info = _authorized_user(profile, token)
        self.profile = profile
        scopes = info.get("scopes") or ()
        self.scopes = frozenset(scopes.split() if isinstance(scopes, str) else scopes)
        self._base = url.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._credentials = Credentials(  # type: ignore[no-untyped-call]
            token=None,
            refresh_token=info["refresh_token"],
            token_uri=f"{self._base}/token" if self._base else GOOGLE_TOKEN_URI,
            client_id=info["client_id"],
            client_secret=info["client_secret"],
        )
        self._local = threading.local()
        self._connections: list[httplib2.Http] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._connections:
            connection.close()  # type: ignore[no-untyped-call]  # ships no types

    def may_write(self, domain: str) -> bool:
        """Whether the credential was made with a scope that deletes; True when it does not say."""
        return not self.scopes or bool(self.scopes & WRITE_SCOPES[domain])

    def events(self) -> Any:
        return _resource("calendar", ("events",), self._base)

    def tasks(self) -> Any:
        return _resource("tasks", ("tasks",), self._base)

    def spreadsheets(self) -> Any:
        return _resource("sheets", ("spreadsheets",), self._base)

    def values(self) -> Any:
        return _resource("sheets", ("spreadsheets", "values"), self._base)

    def _connection(self) -> Any:
        """This thread's own: two threads on one connection read each other's answers."""
        if not hasattr(self._local, "connection"):
            proxy = None if self._base else httplib2.proxy_info_from_environment
            plain = httplib2.Http(timeout=self._timeout, proxy_info=proxy)  # type: ignore[no-untyped-call]  # ships no types
            self._connections.append(plain)
            self._local.connection = google_auth_httplib2.AuthorizedHttp(self._credentials, http=plain)  # type: ignore[no-untyped-call]  # ships no types
        return self._local.connection

    def reach(self) -> None:
        """Ask for an access token, and for nothing else.

        Raises:
            Unreachable, TryAgain, NotPermitted: there is none.
        """
        problem = self._answer(self._refresh).problem
        if problem:
            raise problem

    def read(self, request: Any) -> Answer:
        """Send a request that changes nothing; failures that pass are retried."""
        return self._execute(request, self._retries)

    def write(self, request: Any) -> Answer:
        """Send a request once. It may have been carried out even when this says that it failed."""
        return self._execute(request, 0)

    def _execute(self, request: Any, retries: int) -> Answer:
        return self._answer(lambda http: request.execute(http=http, num_retries=retries), request.method)

    def _refresh(self, http: Any) -> dict[str, Any]:
        self._credentials.refresh(google_auth_httplib2.Request(http.http))  # type: ignore[no-untyped-call]  # ships no types
        return {}

    def _answer(self, ask: Callable[[Any], Any], method: str = "") -> Answer:
        who = f"Google, for {self.profile}"
        try:
            body = ask(self._connection())
        except HttpError as error:
            return _refused(who, int(error.resp.status), error.content)
        except RefreshError as error:
            return _no_token(who, error)
        except (GoogleAuthError, httplib2.HttpLib2Error, OSError) as error:
            return Answer(None, None, _unreachable(who, error))
        except (ValueError, TypeError, KeyError):  # google-auth on a token that is a page
            return _page(who)
        finally:
            register_secret(self._credentials.token or "")
        if body == "" and method == "DELETE":
            return Answer(204, None)
        return Answer(200, body) if isinstance(body, dict) else _page(who)


def _resource(api: str, names: tuple[str, ...], base: str) -> Any:
    """The client's resource. It only describes requests and is shared; connections are given to execute."""
    with _building:
        return _built(api, names, base)


@lru_cache(maxsize=9)  # all resources of one address; a lab has another one each time
def _built(api: str, names: tuple[str, ...], base: str) -> Any:
    """Kept, because making `values` of Sheets costs more than a dozen requests on loopback."""
    if names:
        return getattr(_built(api, names[:-1], base), names[-1])()
    return build(
        api,
        _VERSION[api],
        http=httplib2.Http(),  # type: ignore[no-untyped-call]  # ships no types
        static_discovery=True,
        cache_discovery=False,
        client_options={"api_endpoint": base + _PATH[api]} if base else {},
    )


_SOMETHING_ELSE = "something else answers in Google's place: look at google.url of the inventory, at proxies and sign-in pages"
_NEW_TOKEN = "make a new credential for butlerctl and put it where google_token of the inventory points"  # noqa: S105 - words
_TESTING = (
    "a refresh token of a consent screen in Testing dies after 7 days: publish the app to production, then "
    + _NEW_TOKEN
)


def _authorized_user(profile: str, token: str) -> dict[str, Any]:
    """Raises BadInput, without a word of the token."""
    try:
        info = json.loads(token)
    except ValueError:
        info = None
    if not isinstance(info, dict):
        raise BadInput(
            f"google_token of {profile} is not JSON", hint=f"it is authorized-user JSON; {_NEW_TOKEN}"
        )
    if info.get("type") == "service_account" or "installed" in info or "web" in info:
        raise BadInput(
            f"google_token of {profile} is no credential of a person",
            hint="a service account cannot see tasks, and a client's file holds no consent; " + _NEW_TOKEN,
        )
    missing = [name for name in ("client_id", "client_secret", "refresh_token") if not info.get(name)]
    if missing:
        raise BadInput(f"google_token of {profile} lacks {', '.join(missing)}", hint=_NEW_TOKEN)
    register_secret(info["refresh_token"])
    register_secret(info["client_secret"])
    return info


def _page(who: str) -> Answer:
    """A 200 that is not Google's: the client hands it on as text."""
    return Answer(200, None, Unreachable(f"{who}: the answer is not JSON", hint=_SOMETHING_ELSE))


def _refused(who: str, status: int, content: bytes) -> Answer:
    try:
        body = redact(json.loads(content))
    except ValueError:
        problem = Unreachable(f"{who}: status {status} with a page instead of JSON", hint=_SOMETHING_ELSE)
        return Answer(status, redact_cut(content[:200].decode(errors="replace")), problem)
    reason, message = _reason_of(body)
    return Answer(status, body, _problem(who, status, reason, message))


def _reason_of(body: Any) -> tuple[str, str]:
    """Reason and message of an error of any of the three APIs: only two of them send a list of errors."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return "", ""
    entries = error.get("errors") or error.get("details") or [{}]
    first = entries[0] if isinstance(entries, list) and isinstance(entries[0], dict) else {}
    return str(first.get("reason") or error.get("status") or ""), str(error.get("message", ""))


def _problem(who: str, status: int, reason: str, message: str) -> ButlerctlError:
    said = f"{who}: {status} {reason}: {message}"
    if status == 429 or status >= 500 or reason in _RATE_REASONS:
        return TryAgain(said, hint="Google is busy or a quota is used up; nothing was concluded from it")
    if status in {401, 403}:
        return NotPermitted(said, hint=_permission_hint(status, reason))
    if status == 404:
        hint = "no such place, or this person cannot see it: look at the id in the inventory and at sharing"
        return BadInput(said, hint=hint)
    return BadInput(said, hint="look at the ids and names of this profile in the inventory")


def _permission_hint(status: int, reason: str) -> str:
    if status == 401:
        return _NEW_TOKEN
    if reason in _SCOPE_REASONS:
        return "the credential lacks a scope (docs/google.md); " + _NEW_TOKEN
    if reason in _API_OFF_REASONS:
        return "switch the API on in the Google project of the OAuth client"
    return "the person may see this place but not do that: look at how it is shared"


def _no_token(who: str, error: RefreshError) -> Answer:
    """The token endpoint's word, with what it means for an operator."""
    text = str(error.args[0]) if error.args else ""
    body = error.args[1] if len(error.args) > 1 else None
    if error.retryable:
        return Answer(503, redact(body), TryAgain(f"{who}: no access token: {redact_text(text)}"))
    hint = _TESTING
    if "Reauthentication" in text:  # google-auth's own words, with advice for another tool
        text, hint = "sign in again", "the organisation asks for a new sign-in now and then: " + _NEW_TOKEN
    elif not isinstance(body, dict) or "error" not in body:
        return Answer(None, None, Unreachable(f"{who}: no token in the answer", hint=_SOMETHING_ELSE))
    elif "invalid_client" in text:
        hint = "the OAuth client was deleted or its secret changed: " + _NEW_TOKEN
    return Answer(401, redact(body), NotPermitted(f"{who}: token refused: {redact_text(text)}", hint=hint))


def _unreachable(who: str, error: Exception) -> Unreachable:
    cause = error.args[0] if isinstance(error, TransportError) and error.args else error
    if isinstance(cause, ssl.SSLError):
        return Unreachable(
            f"{who}: TLS fails: {cause.reason or cause}", hint="look at the clock and certificates"
        )
    if isinstance(cause, TimeoutError):
        return Unreachable(f"{who}: no answer in time")
    words = getattr(cause, "strerror", None) or redact_text(str(cause)) or type(cause).__name__
    return Unreachable(f"{who}: cannot be reached: {words}", hint="look at the network and at google.url")
