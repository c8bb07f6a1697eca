"""Recurring events: daily and weekly rules, in the wall clock of the event's own zone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.lab.google.errors import bad_request
from butlerctl.lab.google.times import parse_zone, render_instant

_STEP = {"DAILY": timedelta(days=1), "WEEKLY": timedelta(weeks=1)}
_MOST = 1000


def check_rules(rules: Sequence[str]) -> None:
    """Raises GoogleError 400 for a rule that cannot be read."""
    for rule in rules:
        parts = _parts(rule)
        if parts.get("FREQ") not in _STEP or not parts.get("COUNT", "1").isdigit():
            raise bad_request("Invalid recurrence rule.", "invalid")


def instances(master: dict[str, Any], zone: ZoneInfo) -> Iterator[dict[str, Any]]:
    """The single events of a series: the same fields, own id, start and end, and the master's id."""
    gone = set(master.get("_cancelled", ()))
    for start, end in _times(master, zone):
        instance_id = f"{master['id']}_{_suffix(start)}"
        if instance_id in gone:
            continue
        single = {key: value for key, value in master.items() if key not in {"recurrence", "_cancelled"}}
        single |= {"id": instance_id, "start": start, "end": end}
        single |= {"recurringEventId": master["id"], "originalStartTime": start}
        yield single


def _times(
    master: dict[str, Any], calendar_zone: ZoneInfo
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    parts = _parts(master["recurrence"][0])
    step = _STEP[parts["FREQ"]] * int(parts.get("INTERVAL", "1"))
    zone = parse_zone(master["start"].get("timeZone", "")) or calendar_zone
    start, length = _local(master["start"], zone), _length(master)
    until = _until(parts.get("UNTIL"), zone)
    for number in range(min(int(parts.get("COUNT", _MOST)), _MOST)):
        wall = start + step * number
        if until and wall > until:
            return
        yield _moved(master["start"], wall), _moved(master["end"], wall + length)


def _parts(rule: str) -> dict[str, str]:
    name, _, text = rule.partition(":")
    if name.upper() != "RRULE":
        return {}
    return {key: value for key, _, value in (part.partition("=") for part in text.upper().split(";"))}


def _local(time: dict[str, Any], zone: ZoneInfo) -> datetime:
    """The wall clock without an offset, so that adding a day keeps the hour."""
    if "date" in time:
        return datetime.combine(date.fromisoformat(time["date"]), datetime.min.time())
    instant = datetime.fromisoformat(time["dateTime"].upper())
    return instant.astimezone(zone).replace(tzinfo=None) if instant.tzinfo else instant


def _length(master: dict[str, Any]) -> timedelta:
    zone = parse_zone(master["start"].get("timeZone", "")) or ZoneInfo("UTC")
    return _local(master["end"], zone) - _local(master["start"], zone)


def _until(text: str | None, zone: ZoneInfo) -> datetime | None:
    if text is None:
        return None
    if len(text) == 8:
        return datetime.strptime(text + "235959", "%Y%m%d%H%M%S")  # noqa: DTZ007 - a wall clock on purpose
    instant = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return instant.astimezone(zone).replace(tzinfo=None)


def _moved(time: dict[str, Any], wall: datetime) -> dict[str, Any]:
    if "date" in time:
        return {"date": wall.date().isoformat()}
    zone = parse_zone(time.get("timeZone", "")) or ZoneInfo("UTC")
    return time | {"dateTime": render_instant(wall.replace(tzinfo=zone), zone)}


def _suffix(start: dict[str, Any]) -> str:
    if "date" in start:
        return str(start["date"]).replace("-", "")
    instant = datetime.fromisoformat(start["dateTime"])
    return instant.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
