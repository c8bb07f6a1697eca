"""The typed inventory: what ought to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from butlerctl.inventory.operations import Route
from butlerctl.inventory.values import Value


@dataclass(frozen=True, slots=True)
class Gateway:
    """The agent. `kind` is openclaw, or openai where butlerctl runs the function-calling loop itself."""

    kind: str
    url: Value
    token: Value | None
    agent: str
    model: str
    timeout: float
    """Seconds that one turn may take."""


@dataclass(frozen=True, slots=True)
class Webhook:
    prefix: str
    header: str
    secret: Value | None
    user_agent: str
    timeout: float
    """Seconds that the plugin waits for an answer."""


@dataclass(frozen=True, slots=True)
class N8n:
    url: Value
    api_key: Value | None
    webhook: Webhook


@dataclass(frozen=True, slots=True)
class Spreadsheet:
    """`verify_tab` is the only tab in which butlerctl makes and removes a row."""

    id: Value
    columns: tuple[str, ...]
    tabs: tuple[str, ...]
    verify_tab: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A person of the household and their places in Google. The first task list is the default one."""

    name: str
    google_token: Value | None
    calendar: Value
    task_lists: Mapping[str, Value]
    spreadsheet: Spreadsheet


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A token such as WIFE_CALENDAR_CRED_ID that stands in the exports: documented, and perhaps bound."""

    token: str
    meaning: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Workflows:
    directory: Path
    expect_active: str
    placeholders: Mapping[str, Placeholder]


@dataclass(frozen=True, slots=True)
class Lint:
    """How the linter is set up for these workflows. Codes may be prefixes; patterns are globs of file names."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict_ids: bool = False
    documentation: tuple[str, ...] = ()
    """Files, relative to the inventory, that describe placeholders."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Versions and the model that the household fixed; an empty text is no pin."""

    n8n: str = ""
    gateway: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """One household. `digest` is the sha256 of the file's bytes, `google_url` empty for Google itself."""

    path: Path
    digest: str
    timezone: str
    gateway: Gateway
    n8n: N8n
    google_url: Value | None
    operations: tuple[str, ...]
    profiles: Mapping[str, Profile]
    workflows: Workflows
    pins: Pins
    lint: Lint = field(default_factory=Lint)

    @property
    def routes(self) -> tuple[Route, ...]:
        """Operation × profile, in the order of the file."""
        return tuple(Route(operation, profile) for operation in self.operations for profile in self.profiles)
