"""Calendar v3: the methods that butlers, n8n and butlerctl use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.lab.google import event_times
from butlerctl.lab.google.call import Call, Handler
from butlerctl.lab.google.errors import GoogleError, bad_request, not_found, precondition_failed
from butlerctl.lab.google.paging import page, visible
from butlerctl.lab.google.recurrence import check_rules, instances
from butlerctl.lab.google.store import Calendar, Item, rank
from butlerctl.lab.google.times import parse_instant, parse_zone, stamp

_EVENT_ID = re.compile(r"[a-v0-9]{5,1024}")
_GIVEN_BY_GOOGLE = frozenset(
    {"kind", "etag", "htmlLink", "created", "updated", "creator", "organizer", "recurringEventId"}
)
_NOT_PATCHED = _GIVEN_BY_GOOGLE | {"id", "iCalUID"}


def _calendar(call: Call, role: str) -> Calendar:
    """The calendar that the call names. An unseen one is 404, one that may only be read 403."""
    name = call.get("calendarId")
    calendar = call.store.calendars.get(call.user if name == "primary" else name)
    if calendar is None or rank(calendar.role_of(call.user)) < rank("reader"):
        raise not_found()
    if rank(calendar.role_of(call.user)) < rank(role):
        message = f"You need to have {role} access to this calendar."
        raise GoogleError(403, call.switches.reader_reason, message, domain="calendar")
    return calendar


def _event(call: Call, calendar: Calendar) -> dict[str, Any]:
    """The stored event, cancelled or not, or one instance of a series."""
    event_id = call.get("eventId")
    if event_id in calendar.events:
        return calendar.events[event_id].body
    master = calendar.events.get(event_id.partition("_")[0])
    if master and master.body.get("recurrence"):
        for single in instances(master.body, ZoneInfo(calendar.timezone)):
            if single["id"] == event_id:
                return single
    raise not_found()


def _zone(call: Call, calendar: Calendar) -> ZoneInfo:
    zone = parse_zone(call.get("timeZone") or calendar.timezone)
    if zone is None:
        raise bad_request("Invalid time zone definition.", "invalid")
    return zone


def _shown(call: Call, calendar: Calendar, event: dict[str, Any]) -> dict[str, Any]:
    as_written = call.switches.event_zone == "as_written" and not call.get("timeZone")
    return event_times.rendered(event, _zone(call, calendar), as_written=as_written)


def get_event(call: Call) -> dict[str, Any]:
    calendar = _calendar(call, "reader")
    return _shown(call, calendar, _event(call, calendar))


def insert_event(call: Call) -> dict[str, Any]:
    calendar = _calendar(call, "writer")
    event = {key: value for key, value in call.body.items() if key not in _GIVEN_BY_GOOGLE}
    event_id = event.setdefault("id", call.store.new_id())
    if not _EVENT_ID.fullmatch(event_id):
        raise bad_request("Invalid resource id value.", "invalid")
    if event_id in calendar.events:
        raise GoogleError(409, "duplicate", "The requested identifier already exists.")
    _finish(event, calendar)
    now = stamp(call.store.now())
    event |= {
        "kind": "calendar#event",
        "htmlLink": f"https://www.google.com/calendar/event?eid={event_id}",
        "created": now,
        "creator": {"email": call.user, "self": True},
        "organizer": {"email": calendar.id, "self": True},
    }
    defaults = {
        "status": "confirmed",
        "iCalUID": f"{event_id}@google.com",
        "sequence": 0,
        "reminders": {"useDefault": True},
        "eventType": "default",
    }
    event = defaults | event
    calendar.events[event_id] = Item(event)
    _touch(event, call)
    return _shown(call, calendar, event)


def _finish(event: dict[str, Any], calendar: Calendar) -> None:
    """Check what a write left behind; an empty recurrence is none."""
    if not event.get("recurrence"):
        event.pop("recurrence", None)
    check_rules(event.get("recurrence", ()))
    event_times.normalise(event, ZoneInfo(calendar.timezone))


def _touch(event: dict[str, Any], call: Call) -> None:
    event["etag"] = call.store.next_etag()
    event["updated"] = stamp(call.store.now())


def patch_event(call: Call) -> dict[str, Any]:
    return _change(call, keep=True)


def update_event(call: Call) -> dict[str, Any]:
    return _change(call, keep=False)


def _change(call: Call, *, keep: bool) -> dict[str, Any]:
    calendar = _calendar(call, "writer")
    old = _event(call, calendar)
    _check_etag(call, old)
    if old["id"] not in calendar.events:
        raise bad_request("Changing one instance is not part of this emulator.")
    kept = old if keep else {key: old[key] for key in (*_NOT_PATCHED, "status") if key in old}
    new = kept | {key: value for key, value in call.body.items() if key not in _NOT_PATCHED}
    new = {key: value for key, value in new.items() if value is not None}
    _finish(new, calendar)
    calendar.events[old["id"]].body = new
    _touch(new, call)
    return _shown(call, calendar, new)


def _check_etag(call: Call, event: dict[str, Any]) -> None:
    if call.if_match not in {None, "*", event["etag"]}:
        raise precondition_failed()


def delete_event(call: Call) -> None:
    """Cancelled, not removed: get shows it for ever."""
    calendar = _calendar(call, "writer")
    event = _event(call, calendar)
    if event["status"] == "cancelled":
        if call.switches.repeated_delete == 412:
            _check_etag(call, event)
        raise GoogleError(410, "deleted", "Resource has been deleted")
    _check_etag(call, event)
    if event["id"] in calendar.events:
        event["status"] = "cancelled"
        _touch(event, call)
    else:
        master = calendar.events[event["recurringEventId"]].body
        master.setdefault("_cancelled", []).append(event["id"])
        _touch(master, call)


def list_events(call: Call) -> dict[str, Any]:
    calendar = _calendar(call, "reader")
    zone = _zone(call, calendar)
    start, end = _bound(call, "timeMin"), _bound(call, "timeMax")
    if start and end and end <= start:
        raise event_times.EMPTY_RANGE
    found = [
        event
        for event in _candidates(call, calendar)
        if _meets(event, calendar, start, end) and _asked(call, event)
    ]
    if call.get("orderBy") == "startTime":
        if not call.get("singleEvents", False):
            raise bad_request("The requested ordering is not available for the particular query.")
        found.sort(key=lambda event: event_times.span(event, zone)[0])
    elif call.get("orderBy") == "updated":
        found.sort(key=lambda event: event["updated"])
    items, token = page(found, call, default=250, maximum=2500)
    follow = {"nextPageToken": token} if token else {"nextSyncToken": call.store.new_id()}
    return {
        "kind": "calendar#events",
        "etag": call.store.next_etag(),
        "summary": calendar.summary,
        "updated": stamp(call.store.now()),
        "timeZone": zone.key,
        "accessRole": calendar.role_of(call.user),
        "defaultReminders": [],
        "items": [_shown(call, calendar, event) for event in items],
        **follow,
    }


def _candidates(call: Call, calendar: Calendar) -> Iterator[dict[str, Any]]:
    """Stored events that a list may show; series as their instances when single events are asked for."""
    for item in visible(calendar.events.values(), call):
        event = item.body
        if event["status"] == "cancelled" and not (call.get("showDeleted") or call.get("updatedMin")):
            continue
        if event.get("recurrence") and call.get("singleEvents"):
            yield from instances(event, ZoneInfo(calendar.timezone))
        else:
            yield event


def _meets(event: dict[str, Any], calendar: Calendar, start: datetime | None, end: datetime | None) -> bool:
    zone = ZoneInfo(calendar.timezone)
    series = instances(event, zone) if event.get("recurrence") else [event]
    return any(event_times.in_window(single, zone, start, end) for single in series)


def _asked(call: Call, event: dict[str, Any]) -> bool:
    return (
        _holds_words(event, call.get("q", ""))
        and event["updated"] >= call.get("updatedMin", "")
        and event["iCalUID"] == call.get("iCalUID", event["iCalUID"])
    )


def _bound(call: Call, name: str) -> datetime | None:
    text = call.get(name)
    instant = parse_instant(text) if text else None
    if text and (instant is None or instant.tzinfo is None):
        raise bad_request("Bad Request")
    return instant


def _holds_words(event: dict[str, Any], query: str) -> bool:
    """A stand-in for the unspecified rules of `q`: every word, anywhere in three fields."""
    text = " ".join(str(event.get(name, "")) for name in ("summary", "description", "location")).lower()
    return all(word in text for word in query.lower().split())


def get_calendar(call: Call) -> dict[str, Any]:
    calendar = _calendar(call, "reader")
    return {
        "kind": "calendar#calendar",
        "etag": call.store.next_etag(),
        "id": calendar.id,
        "summary": calendar.summary,
        "timeZone": calendar.timezone,
    }


def list_calendars(call: Call) -> dict[str, Any]:
    items = [
        _list_entry(call, calendar)
        for calendar in call.store.calendars.values()
        if calendar.role_of(call.user) != "none"
    ]
    return {"kind": "calendar#calendarList", "etag": call.store.next_etag(), "items": items}


def get_list_entry(call: Call) -> dict[str, Any]:
    return _list_entry(call, _calendar(call, "reader"))


def _list_entry(call: Call, calendar: Calendar) -> dict[str, Any]:
    entry = {
        "kind": "calendar#calendarListEntry",
        "etag": call.store.next_etag(),
        "id": calendar.id,
        "summary": calendar.summary,
        "timeZone": calendar.timezone,
        "accessRole": calendar.role_of(call.user),
    }
    return entry | {"primary": True} if calendar.id == call.user else entry


HANDLERS: Mapping[str, Handler] = {
    "calendar.events.get": get_event,
    "calendar.events.insert": insert_event,
    "calendar.events.patch": patch_event,
    "calendar.events.update": update_event,
    "calendar.events.delete": delete_event,
    "calendar.events.list": list_events,
    "calendar.calendars.get": get_calendar,
    "calendar.calendarList.list": list_calendars,
    "calendar.calendarList.get": get_list_entry,
}
