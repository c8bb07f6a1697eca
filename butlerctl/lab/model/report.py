"""The model's last words: what a tool's answer says, told in the language of the request, and nothing beyond it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.lab.model.household import Household
from butlerctl.lab.model.phrases import PHRASES, day_in, moment_in
from butlerctl.lab.model.rows import kind_of
from butlerctl.lab.model.understand import Unclear


@dataclass(frozen=True, slots=True)
class Result:
    """One call and what came back for it: `answer` is the decoded JSON, or the text of what is none."""

    tool: str
    arguments: Mapping[str, Any]
    answer: Any


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who talks about whom: the language of the request, and the household it is about."""

    language: str
    household: Household

    def say(self, phrase: str, **fields: Any) -> str:
        return PHRASES[self.language][phrase].format(**fields)

    def report(self, result: Result) -> str:
        """What became of one call."""
        operation = OPERATION_OF_TOOL.get(result.tool)
        data = _data(result.answer)
        if operation is None or data is None:
            return self.failure(result, self._reason(result.answer))
        if operation.writes:
            return self._added(operation.name, result, data)
        items = data.get("items")
        if not isinstance(items, list):
            return self.failure(result, self.say("unusable"))
        return self._listed(operation.name, result, data, items)

    def failure(self, result: Result, reason: str) -> str:
        operation = OPERATION_OF_TOOL.get(result.tool)
        phrase = "failed_read" if operation is not None and not operation.writes else "failed_add"
        return self.say(
            phrase, title=title_of(result.arguments), owner=self.owner(result.arguments), reason=reason
        )

    def question(self, unclear: Unclear) -> str:
        names = {
            "profile": self.household.profiles,
            "sheet": self.household.tabs,
            "values": self.household.columns(next(iter(self.household.profiles), "")),
        }.get(unclear.missing, ())
        return self.say(f"ask_{unclear.missing}", names=", ".join(names))

    def owner(self, arguments: Mapping[str, Any]) -> str:
        return str(arguments.get("profile", "?"))

    def _reason(self, answer: Any) -> str:
        """Why it failed, in the words of whoever refused it."""
        if not isinstance(answer, Mapping):
            return str(answer).strip() or self.say("no_reason")
        error, body = (answer.get(name) for name in ("error", "body"))
        inner = error if isinstance(error, Mapping) else {"code": error}
        message = inner.get("message") or answer.get("message") or self.say("no_reason")
        answered = body.get("message") if isinstance(body, Mapping) else None
        details = [
            answered,
            inner.get("code"),
            f"status {answer['status']}" if answer.get("status") else None,
        ]
        noted = ", ".join(str(detail) for detail in details if detail)
        return f"{message} ({noted})" if noted else str(message)

    def _added(self, operation: str, result: Result, data: Mapping[str, Any]) -> str:
        title = self._title(result, data)
        owner = self.owner(result.arguments)
        if not data.get("id"):
            return self.say("unconfirmed", title=title, owner=owner)
        return self.say(operation, title=title, owner=owner, when=self._when(data), id=data["id"])

    def _title(self, result: Result, data: Mapping[str, Any]) -> str:
        values = data.get("values")
        if isinstance(values, list):
            return " | ".join(map(str, values))
        return str(data.get("summary") or data.get("title") or title_of(result.arguments))

    def _listed(self, operation: str, result: Result, data: Mapping[str, Any], items: Sequence[Any]) -> str:
        head = self.say(
            operation,
            owner=self.owner(result.arguments),
            count=len(items),
            when=self._window(result, data),
            colon=":" if items else ".",
        )
        lines = [f"- {self._line(item)}" for item in items if isinstance(item, Mapping)]
        totals = self._totals(items) if operation == "sheets_read" else []
        more = [self.say("incomplete")] if data.get("complete") is False else []
        return "\n".join([head, *lines, *totals, *more])

    def _line(self, item: Mapping[str, Any]) -> str:
        title = item.get("summary") or item.get("title")
        if title is None:
            cells = (cell for name, cell in item.items() if name != "row_number")
            return " | ".join(map(str, cells))
        identity = f" (id {item['id']})" if item.get("id") else ""
        return f"“{title}”{self._when(item)}{identity}"

    def _totals(self, items: Sequence[Any]) -> list[str]:
        rows = [item for item in items if isinstance(item, Mapping)]
        columns = [name for name in (rows[0] if rows else {}) if kind_of(str(name)) == "number"]
        amounts = {column: [_decimal(row.get(column)) for row in rows] for column in columns}
        return [
            self.say("total", column=column, sum=sum((n for n in numbers if n is not None), Decimal()))
            for column, numbers in amounts.items()
            if any(number is not None for number in numbers)
        ]

    def _when(self, item: Mapping[str, Any]) -> str:
        """The time of an event or the due day of a task, as the answer gives it; empty where it gives none."""
        due = _day(item.get("due"))
        if due is not None:
            return self.say("due", day=day_in(self.language, due))
        start, end = self._moment(item.get("start")), self._moment(item.get("end"))
        if start is None or end is None:
            return ""
        if isinstance(item["start"], Mapping) and item["start"].get("date"):
            return self._whole_days(start.date(), end.date() - timedelta(days=1))
        if start.date() != end.date():
            return self.say("from_day_to_day", start=self._told(start), end=self._told(end))
        return self.say(
            "from_to", day=day_in(self.language, start.date()), start=f"{start:%H:%M}", end=f"{end:%H:%M}"
        )

    def _whole_days(self, first: date, last: date) -> str:
        days = {"start": day_in(self.language, first), "end": day_in(self.language, last)}
        return self.say("from_day_to_day" if last > first else "all_day", **days)

    def _window(self, result: Result, data: Mapping[str, Any]) -> str:
        given = data.get("window")
        window = given if isinstance(given, Mapping) else result.arguments
        start, end = self._moment(window.get("start")), self._moment(window.get("end"))
        if start is None or end is None:
            return ""
        return self.say("between", start=self._told(start), end=self._told(end))

    def _told(self, moment: datetime) -> str:
        return moment_in(self.language, moment)

    def _moment(self, value: Any) -> datetime | None:
        """An instant in the household's zone: of Google's `{dateTime}` or `{date}`, or as text."""
        text = (value.get("dateTime") or value.get("date")) if isinstance(value, Mapping) else value
        try:
            moment = datetime.fromisoformat(str(text))
        except ValueError:
            return None
        zone = self.household.zone
        return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)


def title_of(arguments: Mapping[str, Any]) -> str:
    """What a call is about, from its own arguments."""
    values = arguments.get("values")
    told = " | ".join(map(str, values)) if isinstance(values, list) else None
    return str(arguments.get("summary") or arguments.get("title") or told or arguments.get("sheet") or "?")


def decode_answer(content: str) -> Any:
    """A tool message's content: JSON where it is JSON, else its text."""
    try:
        return json.loads(content)
    except ValueError:
        return content


def _data(answer: Any) -> Mapping[str, Any] | None:
    """The data of an answer that says ok, or None for every other answer."""
    if not isinstance(answer, Mapping) or answer.get("ok") is not True:
        return None
    data = answer.get("data")
    return data if isinstance(data, Mapping) else {}


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10]) if value else None
    except ValueError:
        return None


def _decimal(value: Any) -> Decimal | None:
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None
