"""What is not verified against live Google: one named switch for each hypothesis, so that a recording can flip it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Switches:
    """The defaults are the hypotheses of docs/google.md. May be changed while the emulator runs."""

    event_zone: str = "calendar"
    """`calendar`: times are rendered with the calendar's offset. `as_written`: as they were inserted."""
    calendar_unknown_fields: str = "drop"
    """`drop`, or `reject` with 400."""
    tasks_sheets_unknown_fields: str = "reject"
    repeated_delete: int = 410
    """The second DELETE of an event with the old etag: 410, or 412."""
    reader_reason: str = "requiredAccessLevel"
    """The reason in the 403 for a reader who writes to a calendar."""
    due_date: str = "written"
    """The day of a task's `due`: as `written`, or in `utc`."""
    deleted_task: str = "flag"
    """tasks.get after the delete: `flag` (200 with `deleted: true`), or `404`."""
    tasks_if_match: bool = False
    """Whether Tasks honour If-Match on a delete."""
    append_table: str = "last"
    """Which table a whole tab means when a blank row splits it: the `last`, or the `first`."""
    invalid_grant_text: str = "Token has been expired or revoked."
    delegation_error: str = "unauthorized_client"
    """What a service account gets that acts for a consumer's address."""


@dataclass(slots=True)
class Knobs:
    """Behaviour that Google documents as possible and that happens too seldom to wait for."""

    page_cap: int | None = None
    """No page of events or tasks holds more items than this, whatever was asked."""
    empty_first_page: bool = False
    """The first page holds nothing although more follow."""
    list_lag: float = 0.0
    """Seconds until a new event or task shows in a list; get shows it at once."""
