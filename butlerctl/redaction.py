"""Nothing that leaves butlerctl carries a secret: one redactor, used by every writer.

Three rules, in this order:

1. A value that was registered as a secret is masked wherever it occurs, also escaped for JSON, HTML or a
   URL, and inside base64.
2. A value under a name that holds secrets (a header, a field, an assignment in a text) is masked whatever
   it is.
3. Text that looks like a credential of a known kind is masked wherever it stands.

What butlerctl needs to read stays: nonces, ids, digests, page tokens, references such as `${NAME}`.
Redacting twice gives the same as redacting once.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

MASK = "<redacted>"

_WORDS = (
    r"authorization|cookie|secrets?|passwords?|passwd|passphrase|token|bearer|jwt"
    r"|(?:api|private|encryption|signing|secret|access)[-_. ]?key"
)
_SECRET_NAME = re.compile(rf"(?:{_WORDS})$|(?:^|[-_.])(?:auth|pwd)$", re.IGNORECASE)
# Names that end like a secret but hold none.
_HARMLESS_NAME = re.compile(r"(?:page|sync)[-_]?token$", re.IGNORECASE)
# Under a secret's name: a reference, a mask or a placeholder, and no secret.
_NO_SECRET = re.compile(r"\$\{[^{}]*\}|(?:file|keyring):\S+|<[A-Za-z_ -]{1,60}>")
# A pair as an object: {"name": "Authorization", "value": "…"}.
_NAME_FIELDS = ("name", "key", "header")
_VALUE_FIELDS = frozenset({"value", "values"})
# What an object under a secret's name tells about the secret without being it.
_ABOUT_FIELDS = frozenset({"id", "name", "type", "kind", "mode", "title", "description", "path", "source"})

_ASSIGNMENT = re.compile(
    rf"""(?ix)
    (?P<name> (?:{_WORDS}) | (?<=[-_.])(?:auth|pwd) )
    (?P<between> \\*["']? (?P<sign> \s*[:=]\s* | %3d | (?<=["'])\s*,\s* ) (?:\[\s*)? (?:b(?=["']))? )
    (?: (?P<open> \\*["'] ) (?P<quoted> [^\n]*? ) (?= (?<!\\)(?P=open) | \n | \Z )
      | (?P<bare> (?!\$\{{) [^\s"'\\&,;<>(){{}}\[\]]+ ) )
    """
)
_NAME_FOLLOWS = re.compile(r"""\\*["']\s*:""")
_HEADER_NAME = re.compile(r".*-.*|(?:authorization|cookie)$", re.IGNORECASE)
# A header in a log: its value goes to the end of the line. `Cookie: chocolate` is none of a browser.
_HEADER_LINE = re.compile(
    r"(?i)(?P<start>authorization\s*[:=]\s*|cookie\s*[:=]\s*(?=[^\s\"'\\;=]+=))"
    r"(?!\$\{)[^\s\"'\\<>][^\n\"'\\<>]*"
)
_SCHEME = re.compile(r"(?i)\b(?P<scheme>bearer|basic)\s+(?P<value>[A-Za-z0-9._~+/-]{6,}=*)")
_CREDENTIAL = re.compile(
    r"\bya29\.[A-Za-z0-9._-]{6,}"  # Google: access token
    r"|(?<![\w.])1//0[A-Za-z0-9_-]{10,}"  # Google: refresh token
    r"|\bGOCSPX-[A-Za-z0-9_-]{10,}"  # Google: client secret
    r"|\bAIza[A-Za-z0-9_-]{30,}"  # Google: API key
    r"|\bsk-[A-Za-z0-9_-]{12,}"  # model providers
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*"  # JSON Web Token; n8n's API keys
    r"|\bn8n_api_[A-Za-z0-9]{10,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b"  # Telegram
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_USERINFO = re.compile(r"(?<=://)[^/\s:@\"'<>]+:[^/\s@\"'<>]+(?=@)")

_SHORTEST = 4
# What stands for itself in every text; any other character may be written in another way.
_PLAIN = re.compile(r"[A-Za-z0-9._~-]+")
_ENTITIES = {'"': ("quot",), "&": ("amp",), "<": ("lt",), ">": ("gt",), "'": ("apos",)}
_JSON_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_RUNS = re.compile(r"[A-Za-z0-9._~-]+|\\+|.", re.DOTALL)

_lock = threading.Lock()
_registered: set[str] = set()
_registered_forms: re.Pattern[str] | None = None


def register_secret(value: str) -> None:
    """Mask this value from now on, wherever it occurs. Values under four characters cannot be masked.

    Also without the blanks and line ends around it, which an HTTP header loses. Of a JSON object (an
    authorized-user file) the fields of a secret's name are registered too.
    """
    global _registered_forms  # noqa: PLW0603 - one registry for the process, as long as it lives
    if value in _registered:
        return
    found = (value, *_secrets_inside(value))
    with _lock:
        for secret in (*found, *(text.strip(" \t\r\n") for text in found)):
            if len(secret) >= _SHORTEST:
                _registered.add(secret)
        if not _registered:
            return
        _registered_forms = None


def _pattern_of_registered() -> re.Pattern[str] | None:
    """Compiled when it is first needed after a registration, not at each of many registrations."""
    global _registered_forms  # noqa: PLW0603 - as above
    with _lock:
        if _registered_forms is None and _registered:
            longest_first = sorted(_registered, key=lambda secret: (-len(secret), secret))
            _registered_forms = re.compile(
                "|".join(form for secret in longest_first for form in _forms(secret))
            )
        return _registered_forms


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is a secret: `X-L4CK3Y-Auth`, `refresh_token`, `apiKey`."""
    return _SECRET_NAME.search(name) is not None and _HARMLESS_NAME.search(name) is None


def redact_words(text: str) -> str:
    """The program's own words, such as an error: what it says about a token is not taken for the token."""
    registered = _pattern_of_registered()
    if registered is not None:
        text = registered.sub(MASK, text)
    text = _CREDENTIAL.sub(MASK, text)
    return _USERINFO.sub(MASK, text)


def redact_text(text: str) -> str:
    """The text without registered secrets and without anything that looks like a credential."""
    text = redact_words(text)
    text = _HEADER_LINE.sub(rf"\g<start>{MASK}", text)
    text = _ASSIGNMENT.sub(_mask_assignment, text)
    return _SCHEME.sub(_mask_scheme, text)


def redact_cut(text: str) -> str:
    """As `redact_text`, for a text that broke off: its end may be the first part of a registered secret."""
    text = redact_text(text)
    with _lock:
        shown = max((_begun(text, secret) for secret in _registered), default=0)
    return text[:-shown] + MASK if shown else text


def redact(value: Any) -> Any:
    """A copy of a JSON document without secrets. Names decide first, then the text of each string."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return _redact_object(value)
    if isinstance(value, list | tuple):
        return _redact_list(value)
    if isinstance(value, int | float) and str(value) in _registered:
        return MASK
    return value


def _redact_object(document: Mapping[Any, Any]) -> dict[Any, Any]:
    named = any(is_secret_name(str(document.get(field, ""))) for field in _NAME_FIELDS)
    return {
        redact_text(key) if isinstance(key, str) else key: _mask(item)
        if is_secret_name(str(key)) or (named and str(key).lower() in _VALUE_FIELDS)
        else redact(item)
        for key, item in document.items()
    }


def _redact_list(items: Sequence[Any]) -> list[Any]:
    """Also headers as a list: pairs, or names and values in turn."""
    in_turn = len(items) % 2 == 0 and all(isinstance(item, str) for item in items)
    return [
        _mask(item) if in_turn and index % 2 and _is_secret_header(items[index - 1]) else redact(item)
        for index, item in enumerate(items)
    ]


def _is_secret_header(name: str) -> bool:
    return is_secret_name(name) and _HEADER_NAME.match(name) is not None


def _mask(value: Any) -> Any:
    """What stands under a secret's name, masked: texts and numbers, also inside lists and objects."""
    if isinstance(value, str):
        return value if not value or _NO_SECRET.fullmatch(value) else MASK
    if isinstance(value, list | tuple):
        return [_mask(item) for item in value]
    if isinstance(value, Mapping):
        return {key: redact(item) if key in _ABOUT_FIELDS else _mask(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool) else MASK


def _mask_assignment(match: re.Match[str]) -> str:
    name = _name_before(match) + match["name"]
    if not is_secret_name(name) or ("," in match["sign"] and not _is_pair(match, name)):
        return match[0]
    start = match["name"] + match["between"]
    if match["open"]:
        kept = not match["quoted"] or _NO_SECRET.fullmatch(match["quoted"])
        return match[0] if kept else f"{start}{match['open']}{MASK}"
    prose = match["sign"] != "=" and name.replace(" ", "").isalpha()
    if _NO_SECRET.fullmatch(match["bare"]) or (prose and not _looks_random(match["bare"])):
        return match[0]
    return start + MASK


def _is_pair(match: re.Match[str], name: str) -> bool:
    """`"X-Auth-Token", "…"` is a header and its value; in `"title": "pay-token", "due": "…"` the second is a name."""
    return _is_secret_header(name) and _NAME_FOLLOWS.match(match.string, match.end()) is None


def _name_before(match: re.Match[str]) -> str:
    """The part of the name that stands before the word which makes it one of a secret."""
    before = re.search(r"[\w.-]*$", match.string[max(0, match.start() - 60) : match.start()])
    return before[0] if before else ""


def _mask_scheme(match: re.Match[str]) -> str:
    """`Bearer …` and `Basic …`, but not a basic haircut."""
    value = match["value"]
    secret = _looks_random(value) if match["scheme"].lower() == "bearer" else _is_basic(value)
    return f"{match['scheme']} {MASK}" if secret else match[0]


def _looks_random(text: str) -> bool:
    text = text.rstrip(".,:;!?")
    return len(text) >= 16 or re.search(r"\d|\w[-_+/=.]\w", text) is not None


def _is_basic(text: str) -> bool:
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return False


def _secrets_inside(text: str) -> Iterator[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(document, dict):
        for key, item in document.items():
            if isinstance(item, str) and is_secret_name(key):
                yield item


def _begun(text: str, secret: str) -> int:
    """How many characters of the secret the text ends with, when it holds its beginning; 0 for under four."""
    lengths = range(min(len(secret) - 1, len(text)), _SHORTEST - 1, -1)
    return next((length for length in lengths if text.endswith(secret[:length])), 0)


def _forms(secret: str) -> Iterator[str]:
    """Patterns of a secret: as it is, or escaped for JSON (once or more), HTML or a URL; and inside base64."""
    yield "".join(map(_in_any_form, _RUNS.findall(secret)))
    data = secret.encode("utf-8", errors="replace")
    for shift in range(3):
        inside = _base64_inside(data, shift)
        if len(inside) >= 10:
            yield re.escape(inside)
            yield re.escape(inside.replace("+", "-").replace("/", "_"))


def _in_any_form(run: str) -> str:
    """The pattern of one special character (backslashes: of all in a row), or of plain text as it is."""
    if _PLAIN.fullmatch(run):
        return re.escape(run)
    count, sign = len(run), run[0]
    units = sign.encode("utf-16-be", errors="surrogatepass")
    forms = [
        "".join(rf"\\{{1,4}}u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)),
        "".join(f"%{byte:02x}" for byte in sign.encode("utf-8", errors="replace")),
        f"&#(?:{ord(sign)}|x0*{ord(sign):x});",
        *(f"&{name};" for name in _ENTITIES.get(sign, ())),
    ]
    forms += [r"\+"] if sign == " " else []
    if sign in _JSON_LETTERS:
        forms.append(rf"\\{{1,4}}{_JSON_LETTERS[sign]}")
    written = rf"\\{{{count},{8 * count}}}" if sign == "\\" else rf"\\{{0,7}}{re.escape(sign)}"
    # The escaped forms first: `&amp;` begins with the sign itself, and its rest would stay.
    return f"(?:(?i:{'|'.join(forms)}){{{count}}}|{written})"


def _base64_inside(data: bytes, shift: int) -> str:
    """The base64 characters that depend on `data` alone when `shift` bytes stand before it."""
    encoded = base64.b64encode(b"\0" * shift + data).decode("ascii")
    return encoded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
