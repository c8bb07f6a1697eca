"""Start and end of an event: what Google accepts, how it is compared and how it is shown."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.lab.google.errors import GoogleError, bad_request
from butlerctl.lab.google.times import parse_instant, parse_zone, render_instant

EMPTY_RANGE = GoogleError(400, "timeRangeEmpty", "The specified time range is empty.")


def normalise(body: dict[str, Any], zone: ZoneInfo) -> None:
    """Check `start` and `end` of an event and give both the zone they are kept in.

    Raises:
        GoogleError: 400, in Google's words.
    """
    recurring = bool(body.get("recurrence"))
    for side in ("start", "end"):
        body[side] = _side(body.get(side), side, zone, recurring=recurring)
    if ("date" in body["start"]) != ("date" in body["end"]):
        raise bad_request("Start and end times must either both be date or both be dateTime.", "invalid")
    start, end = span(body, zone)
    if end < start or (end == start and "date" in body["start"]):
        raise EMPTY_RANGE


def _side(time: dict[str, Any] | None, side: str, zone: ZoneInfo, *, recurring: bool) -> dict[str, Any]:
    given = {key: value for key, value in (time or {}).items() if value is not None}
    if ("date" in given) == ("dateTime" in given):
        raise bad_request(f"Missing {side} time." if not given else f"Invalid {side} time.", "required")
    if "date" in given:
        return {"date": given["date"]}
    name = given.get("timeZone")
    own_zone = parse_zone(name) if name else None
    instant = parse_instant(given["dateTime"])
    if instant is None or (name and own_zone is None):
        raise bad_request(f"Invalid time zone definition for {side} time.", "invalid")
    if own_zone is None and (recurring or instant.tzinfo is None):
        raise bad_request(f"Missing time zone definition for {side} time.", "required")
    if instant.tzinfo is None and own_zone:
        given["dateTime"] = render_instant(instant.replace(tzinfo=own_zone), own_zone)
    return {"dateTime": given["dateTime"], "timeZone": name or zone.key}


def span(event: dict[str, Any], zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Both ends as instants; whole days begin at midnight of the calendar's zone, and the end is exclusive."""
    return _instant(event["start"], zone), _instant(event["end"], zone)


def _instant(time: dict[str, Any], zone: ZoneInfo) -> datetime:
    if "date" in time:
        return datetime.combine(date.fromisoformat(time["date"]), datetime.min.time(), zone)
    return datetime.fromisoformat(time["dateTime"])


def rendered(event: dict[str, Any], zone: ZoneInfo, *, as_written: bool) -> dict[str, Any]:
    """The event with its times in the zone of the reader."""
    shown = {key: value for key, value in event.items() if not key.startswith("_")}
    for side in ("start", "end", "originalStartTime"):
        if "dateTime" in shown.get(side, {}) and not as_written:
            instant = datetime.fromisoformat(shown[side]["dateTime"])
            shown[side] = shown[side] | {"dateTime": render_instant(instant, zone)}
    return shown


def in_window(event: dict[str, Any], zone: ZoneInfo, start: datetime | None, end: datetime | None) -> bool:
    """A list's timeMin is a bound of the event's end, its timeMax of the start, both exclusive."""
    begins, ends = span(event, zone)
    if ends == begins:
        ends += timedelta(microseconds=1)
    return (start is None or ends > start) and (end is None or begins < end)
