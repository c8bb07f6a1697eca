"""The token endpoint and bearer tokens: grants of users to OAuth clients, and service accounts."""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from butlerctl.lab.google.errors import Answer, GoogleError, json_answer
from butlerctl.lab.google.store import Store
from butlerctl.lab.google.switches import Switches

LIFETIME = timedelta(seconds=3599)
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass(frozen=True, slots=True)
class OAuthClient:
    id: str = "lab.apps.googleusercontent.com"
    secret: str = field(default="lab-client-secret", repr=False)


@dataclass(slots=True)
class Grant:
    """What one user allowed one client. The refresh token is its name."""

    user: str
    client: OAuthClient
    scopes: tuple[str, ...]
    refresh_token: str = field(default_factory=lambda: "1//0" + secrets.token_urlsafe(32), repr=False)
    revoked: bool = False

    def authorized_user(self) -> str:
        """The JSON text that butlerctl keeps for a profile (and google-auth calls an authorized user)."""
        document = {
            "type": "authorized_user",
            "client_id": self.client.id,
            "client_secret": self.client.secret,
            "refresh_token": self.refresh_token,
            "scopes": list(self.scopes),
        }
        return json.dumps(document)


@dataclass(frozen=True, slots=True)
class AccessToken:
    user: str
    scopes: frozenset[str]
    until: datetime
    grant: Grant | None


class TokenRefused(Exception):
    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.answer = json_answer(status, {"error": error, "error_description": description})


class Tokens:
    """Grants and access tokens. Use under the store's lock."""

    def __init__(self, store: Store, switches: Switches) -> None:
        self._store = store
        self._switches = switches
        self._clients: dict[str, OAuthClient] = {}
        self._grants: dict[str, Grant] = {}
        self._service_accounts: set[str] = set()
        self._access: dict[str, AccessToken] = {}

    def grant(self, user: str, client: OAuthClient, scopes: Iterable[str]) -> Grant:
        grant = Grant(user, client, tuple(scopes))
        self._clients[client.id] = client
        self._grants[grant.refresh_token] = grant
        return grant

    def grant_of(self, refresh_token: str) -> Grant:
        """The grant with this refresh token. Raises KeyError."""
        return self._grants[refresh_token]

    def add_service_account(self, email: str) -> None:
        self._service_accounts.add(email)

    def delete_client(self, client: OAuthClient) -> None:
        self._clients.pop(client.id, None)

    def issue(self, user: str, scopes: Iterable[str], grant: Grant | None = None) -> str:
        text = "ya29." + secrets.token_urlsafe(32)
        self._access[text] = AccessToken(user, frozenset(scopes), self._store.now() + LIFETIME, grant)
        return text

    def expire_access(self, user: str | None = None) -> None:
        """Every access token of the user (of everybody) is refused from now on; refresh tokens stay good."""
        kept = {text: token for text, token in self._access.items() if user and token.user != user}
        self._access = kept

    def authorise(self, header: str, scopes: frozenset[str]) -> str:
        """The user behind an Authorization header.

        Raises:
            GoogleError: 401 for a bad token, 403 when none of the method's scopes was granted.
        """
        token = self._access.get(header.removeprefix("Bearer ").strip())
        if token is None or token.until <= self._store.now() or (token.grant and token.grant.revoked):
            raise _unauthenticated()
        if not token.scopes & scopes:
            raise _insufficient(scopes)
        return token.user

    def client_of(self, header: str) -> str | None:
        """The id of the OAuth client that holds the token of an Authorization header, where it is known."""
        token = self._access.get(header.removeprefix("Bearer ").strip())
        return token.grant.client.id if token and token.grant else None

    def answer(self, form: Mapping[str, str]) -> Answer:
        """POST /token."""
        try:
            if form.get("grant_type") == _JWT_BEARER:
                return self._service_account(form.get("assertion", ""))
            if form.get("grant_type") == "refresh_token":
                return self._refresh(form)
        except TokenRefused as refused:
            return refused.answer
        return TokenRefused("unsupported_grant_type", f"Invalid grant_type: {form.get('grant_type')}").answer

    def _refresh(self, form: Mapping[str, str]) -> Answer:
        client = self._clients.get(form.get("client_id", ""))
        if client is None:
            raise TokenRefused("invalid_client", "The OAuth client was not found.", 401)
        if not secrets.compare_digest(client.secret.encode(), form.get("client_secret", "").encode()):
            raise TokenRefused("invalid_client", "Unauthorized", 401)
        grant = self._grants.get(form.get("refresh_token", ""))
        if grant is None or grant.client.id != client.id:
            raise TokenRefused("invalid_grant", "Bad Request")
        if grant.revoked:
            raise TokenRefused("invalid_grant", self._switches.invalid_grant_text)
        asked = form.get("scope", "").split()
        if set(asked) - set(grant.scopes):
            raise TokenRefused("invalid_scope", "Some requested scopes were invalid.")
        scopes = asked or list(grant.scopes)
        return _granted(self.issue(grant.user, scopes, grant), scopes)

    def _service_account(self, assertion: str) -> Answer:
        """The signature is not checked: the emulator holds no public keys."""
        claims = _claims(assertion)
        if claims.get("iss") not in self._service_accounts:
            raise TokenRefused("invalid_grant", "Invalid grant: account not found")
        if claims.get("sub") not in {None, claims["iss"]}:
            description = "Client is unauthorized to retrieve access tokens using this method."
            raise TokenRefused(self._switches.delegation_error, description, 401)
        scopes = str(claims.get("scope", "")).split()
        return _granted(self.issue(claims["iss"], scopes), scopes)


def _claims(assertion: str) -> dict[str, Any]:
    try:
        payload = assertion.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, binascii.Error):
        raise TokenRefused("invalid_grant", "Invalid JWT.") from None
    return claims if isinstance(claims, dict) else {}


def _granted(access_token: str, scopes: Iterable[str]) -> Answer:
    document = {
        "access_token": access_token,
        "expires_in": int(LIFETIME.total_seconds()),
        "scope": " ".join(scopes),
        "token_type": "Bearer",
    }
    return json_answer(200, document, (("Cache-Control", "no-store"),))


def _unauthenticated() -> GoogleError:
    return GoogleError(
        401,
        "authError",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
        "valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
        location=("header", "Authorization"),
        headers=(("WWW-Authenticate", 'Bearer realm="https://accounts.google.com/", error="invalid_token"'),),
    )


def _insufficient(scopes: frozenset[str]) -> GoogleError:
    challenge = f'Bearer realm="https://accounts.google.com/", error="insufficient_scope", scope="{" ".join(sorted(scopes))}"'
    return GoogleError(
        403,
        "insufficientPermissions",
        "Request had insufficient authentication scopes.",
        headers=(("WWW-Authenticate", challenge),),
    )
