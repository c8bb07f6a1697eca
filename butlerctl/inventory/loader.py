"""`inventory.yaml` becomes a typed model, or one line that says what is wrong with it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from butlerctl.errors import InventoryError
from butlerctl.inventory.find import FILE_NAME, find_inventory
from butlerctl.inventory.model import (
    Gateway,
    Inventory,
    Lint,
    N8n,
    Pins,
    Placeholder,
    Profile,
    Spreadsheet,
    Webhook,
    Workflows,
)
from butlerctl.inventory.operations import OPERATIONS
from butlerctl.inventory.reader import Section, Source, read_root
from butlerctl.inventory.values import Value

__all__ = ["FILE_NAME", "find_inventory", "load_inventory"]

_PROFILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def load_inventory(path: Path, environ: Mapping[str, str]) -> Inventory:
    """Read an inventory. References are kept, and followed in `environ` only when a value is asked for.

    Raises:
        InventoryError: with file, line and key.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InventoryError(
            f"{path}: cannot be read: {error.strerror}", hint="name the file with --inventory FILE"
        ) from error
    except UnicodeDecodeError as error:
        raise InventoryError(f"{path.name}: is not UTF-8 (byte {error.start})") from error
    return _inventory(read_root(text, Source(path, environ)), path, hashlib.sha256(data).hexdigest())


def _inventory(root: Section, path: Path, digest: str) -> Inventory:
    root.choice("version", ("1",))
    inventory = Inventory(
        path=path,
        digest=digest,
        timezone=_timezone(root),
        gateway=_gateway(root.section("gateway")),
        n8n=_n8n(root.section("n8n")),
        google_url=_google_url(root.optional_section("google")),
        operations=_operations(root),
        profiles=_profiles(root.section("profiles")),
        workflows=_workflows(root.section("workflows"), path.parent),
        pins=_pins(root.optional_section("pins")),
        lint=_lint(root.optional_section("lint")),
    )
    root.close()
    return inventory


def _timezone(root: Section) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    name = root.text("timezone")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise root.wrong("timezone", f"{name!r} is no time zone; one is called Europe/Berlin") from None
    return name


def _gateway(section: Section) -> Gateway:
    gateway = Gateway(
        kind=section.choice("kind", ("openclaw", "openai"), "openclaw"),
        url=_url(section, "url"),
        token=section.optional_value("token", secret=True, form="header"),
        agent=section.text("agent", "butler"),
        model=section.text("model", ""),
        timeout=section.number("timeout", 60, low=1, high=3600),
    )
    section.close()
    return gateway


def _n8n(section: Section) -> N8n:
    webhook = section.optional_section("webhook")
    n8n = N8n(
        url=_url(section, "url"),
        api_key=section.optional_value("api_key", secret=True, form="header"),
        webhook=Webhook(
            prefix=webhook.text("prefix", "").strip("/"),
            header=webhook.text("header", "X-L4CK3Y-Auth"),
            secret=webhook.optional_value("secret", secret=True, form="header"),
            user_agent=webhook.text("user_agent", "FR4M3W0RK-Tools/1.0"),
            timeout=webhook.number("timeout", 15, low=0.1, high=300),
        ),
    )
    webhook.close()
    section.close()
    return n8n


def _google_url(section: Section) -> Value | None:
    url = section.optional_value("url", form="url")
    section.close()
    return url


def _url(section: Section, key: str) -> Value:
    value = section.value(key, form="url")
    if not value.is_reference and not value.text.startswith(("http://", "https://")):
        raise section.wrong(key, f"{value.text!r} must begin with http:// or https://")
    return value


def _operations(root: Section) -> tuple[str, ...]:
    names = root.names("operations", tuple(OPERATIONS))
    for name in names:
        if name not in OPERATIONS:
            raise root.wrong("operations", f"{name!r} must be one of {', '.join(OPERATIONS)}")
    if not names:
        raise root.wrong("operations", "names no operation")
    return names


def _profiles(section: Section) -> Mapping[str, Profile]:
    profiles = {}
    for name in section.keys():  # noqa: SIM118 - a Section is no dict
        if not _PROFILE_NAME.fullmatch(name):
            raise section.wrong(name, "a profile's name is letters, digits, - and _: it stands in a URL")
        profiles[name] = _profile(name, section.section(name))
    if not profiles:
        raise section.wrong("profiles", "names no person")
    return profiles


def _profile(name: str, section: Section) -> Profile:
    lists = section.section("task_lists")
    profile = Profile(
        name=name,
        google_token=section.optional_value("google_token", secret=True),
        calendar=section.value("calendar"),
        task_lists={key: lists.value(key) for key in lists.keys()},  # noqa: SIM118 - a Section is no dict
        spreadsheet=_spreadsheet(section.section("spreadsheet")),
    )
    if not profile.task_lists:
        raise section.wrong("task_lists", "names no list")
    section.close()
    return profile


def _spreadsheet(section: Section) -> Spreadsheet:
    sheet = Spreadsheet(
        id=section.value("id"),
        columns=section.names("columns"),
        tabs=section.names("tabs"),
        verify_tab=section.text("verify_tab"),
    )
    if not sheet.columns:
        raise section.wrong("columns", "names no column")
    if sheet.verify_tab not in sheet.tabs:
        raise section.wrong("verify_tab", f"must be one of the tabs: {', '.join(sheet.tabs)}")
    section.close()
    return sheet


def _workflows(section: Section, folder: Path) -> Workflows:
    placeholders = section.optional_section("placeholders")
    workflows = Workflows(
        directory=folder / section.text("directory", "workflows"),
        expect_active=section.choice("expect_active", ("error", "warn", "ignore"), "warn"),
        placeholders={
            token: _placeholder(token, placeholders.section(token))
            for token in placeholders.keys()  # noqa: SIM118 - a Section is no dict
        },
    )
    section.close()
    return workflows


def _placeholder(token: str, section: Section) -> Placeholder:
    placeholder = Placeholder(token, section.text("is"), section.optional_value("value"))
    section.close()
    return placeholder


def _pins(section: Section) -> Pins:
    pins = Pins(section.text("n8n", ""), section.text("gateway", ""), section.text("model", ""))
    section.close()
    return pins


def _lint(section: Section) -> Lint:
    per_file = section.optional_section("per_file_ignores")
    lint = Lint(
        select=section.names("select", ()),
        ignore=section.names("ignore", ()),
        per_file_ignores={pattern: per_file.names(pattern) for pattern in per_file.keys()},  # noqa: SIM118 - a Section is no dict
        strict_ids=section.flag("strict_ids", default=False),
        documentation=section.names("documentation", ()),
    )
    section.close()
    return lint
