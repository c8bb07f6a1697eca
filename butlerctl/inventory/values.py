"""A value of the inventory that may be a reference. Secrets exist in the file only as references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from butlerctl.errors import InventoryError, SecretMissing

_ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Value:
    """Text of the inventory: a literal, or a reference that is followed only when the value is needed.

    `${NAME}` and `${NAME:-default}` read the environment, `file:PATH` a file (relative to the inventory),
    `keyring:SERVICE/NAME` the keyring.
    """

    text: str
    where: str
    folder: Path = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    secret: bool = False
    form: str = ""
    """What it has to look like: `url`, `header` (what an HTTP header can carry), or "" for anything."""

    @property
    def is_reference(self) -> bool:
        return _scheme_of(self.text) is not None

    @property
    def variable(self) -> str | None:
        """The environment variable that this value reads, if it reads one."""
        match = _ENVIRONMENT.fullmatch(self.text)
        return match and match[1]

    def get(self) -> str:
        """The value itself.

        Raises:
            SecretMissing: the reference leads nowhere.
            InventoryError: it leads to something that does not have the form.
        """
        scheme = _scheme_of(self.text)
        value = self.text if scheme is None else _READERS[scheme](self)
        if self.secret or (self.form == "url" and "@" in value):
            from butlerctl.redaction import register_secret  # its patterns cost more than all of this module

            register_secret(value if self.secret else _password_in(value))
        if value and self.form and not _FORMS[self.form](value):
            raise InventoryError(f"{self.where}: {self.text} {_WRONG[self.form]}")
        return value


def _scheme_of(text: str) -> str | None:
    if _ENVIRONMENT.fullmatch(text):
        return "environment"
    scheme, colon, _ = text.partition(":")
    return scheme if colon and scheme in {"file", "keyring"} else None


def _from_environment(value: Value) -> str:
    ((name, has_default, default),) = _ENVIRONMENT.findall(value.text)
    found = value.environ.get(name, "")
    if found or has_default:
        return found or default
    raise SecretMissing(
        f"{value.where}: the environment has no {name}",
        hint=f"set {name}, or give a default as ${{{name}:-…}}",
    )


def _from_file(value: Value) -> str:
    path = value.folder / Path(value.text.removeprefix("file:")).expanduser()
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SecretMissing(
            f"{value.where}: cannot read {value.text}: {_reason(error)}",
            hint="the file holds the value and nothing else; make it readable for you alone (chmod 600)",
        ) from error


def _from_keyring(value: Value) -> str:
    try:
        import keyring  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise SecretMissing(
            f"{value.where}: {value.text} needs the keyring package",
            hint="pip install 'butlerctl[keyring]', or use ${NAME} or file:PATH",
        ) from error
    service, _, name = value.text.removeprefix("keyring:").partition("/")
    found = keyring.get_password(service, name)
    if not found:
        raise SecretMissing(f"{value.where}: the keyring has nothing under {service}/{name}")
    return str(found)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def _is_url(text: str) -> bool:
    from urllib.parse import urlsplit  # seven milliseconds that the linter never needs

    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _password_in(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    try:
        return unquote(urlsplit(url).password or "")
    except ValueError:
        return ""


def _fits_a_header(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()


_FORMS: Mapping[str, Callable[[str], bool]] = {"url": _is_url, "header": _fits_a_header}
_WRONG = {
    "url": "is no address: it must begin with http:// or https:// and name a host",
    "header": "cannot stand in an HTTP header: it holds a line end, a space at its end or a character beyond ASCII",
}
_READERS: Mapping[str, Callable[[Value], str]] = {
    "environment": _from_environment,
    "file": _from_file,
    "keyring": _from_keyring,
}
