"""The facts that a reply tells: times, days, amounts, counts, rows. Numbers are read, sentences are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal

from butlerctl.judge import values

_MONTHS = (
    "january januar enero janvier gennaio januari janeiro stycznia styczeń jan",
    "february februar febrero février febbraio februari fevereiro lutego luty feb",
    "march märz marzo mars maart março marca marzec marts mar",
    "april abril avril aprile kwietnia kwiecień apr",
    "may mai mayo maggio mei maio maja maj",
    "june juni junio juin giugno junho czerwca czerwiec jun",
    "july juli julio juillet luglio julho lipca lipiec jul",
    "august agosto août augustus augusti sierpnia sierpień aug",
    "september septiembre septembre settembre setembro września wrzesień sep sept",
    "october oktober octubre octobre ottobre outubro października październik oct okt",
    "november noviembre novembre novembro listopada listopad nov",
    "december dezember diciembre décembre dicembre dezembro grudnia grudzień desember dec dez",
)
_WEEKDAYS = (
    "monday montag lunes lundi lunedì maandag segunda-feira poniedziałek måndag mandag",
    "tuesday dienstag martes mardi martedì dinsdag terça-feira wtorek tisdag tirsdag",
    "wednesday mittwoch miércoles mercredi mercoledì woensdag quarta-feira środa środę onsdag",
    "thursday donnerstag jueves jeudi giovedì donderdag quinta-feira czwartek torsdag",
    "friday freitag viernes vendredi venerdì vrijdag sexta-feira piątek fredag",
    "saturday samstag sonnabend sábado samedi sabato zaterdag sobota sobotę lördag lørdag",
    "sunday sonntag domingo dimanche domenica zondag niedziela niedzielę söndag søndag",
)
_COUNTS = (
    "zero null cero zéro nul nenhum",
    "",
    "two zwei dos deux due twee dois duas dwa dwie två",
    "three drei tres trois tre drie três trzy",
    "four vier cuatro quatre quattro quatro cztery fyra",
    "five fünf cinco cinq cinque vijf pięć fem",
    "six sechs seis sei zes sześć",
    "seven sieben siete sept sette zeven sete siedem",
    "eight acht ocho huit otto oito osiem",
    "nine neun nueve neuf nove negen dziewięć",
    "ten zehn diez dix dieci tien dez dziesięć",
)
_THINGS = (
    r"things?|events?|appointments?|entr(?:y|ies)|items?|tasks?|to-?dos?|rows?|meetings?|lines?|termin\w*|einträ\w+|eintrag|aufgaben?|sachen|zeilen?"
    r"|eventos?|citas?|tareas?|cosas?|entradas?|filas?|événements?|rendez-vous|tâches?|choses?|lignes?|entrées?|eventi|impegni|appuntamenti"
    r"|attività|cose|voci|righe|afspraken?|taken|dingen|regels|rijen|compromissos?|tarefas?|coisas?|linhas?|wydarze\w+|zada\w+|rzecz\w*|wiersz\w*"
    r"|uppgift\w*|händelse\w*|saker?|rader|möten?|poster|opgave\w*|oppgave\w*|begivenhed\w*|aftaler?|avtaler?"
)
_MONTH_OF = {name: at + 1 for at, names in enumerate(_MONTHS) for name in names.split()}
_WEEKDAY_OF = {name: at for at, names in enumerate(_WEEKDAYS) for name in names.split()}
_COUNT_OF = {name: at for at, names in enumerate(_COUNTS) for name in names.split()}

_MONTH = "(" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + r")\b\.?"
_ORDINAL = r"(?:st|nd|rd|th|\.|º|ª|er|e)?"
_HALF = r"(?:\s?([ap])\.?\s?m\b\.?)"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?")
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}}){_ORDINAL}\s+(?:of\s+|de\s+|d['’])?{_MONTH}(?:\s+(?:de\s+)?(\d{{4}}))?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}}){_ORDINAL}(?!\d|:)(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
_NUMBER = r"(3[01]|[12]\d|0?[1-9])"
_NUMERIC = re.compile(
    rf"\b{_NUMBER}([./-]){_NUMBER}\2(?:\d{{4}}|\d{{2}})(?!\d)"
    rf"|\b(?:am|vom|bis|zum|den|der|dne|dnia|do|d\.)\s+{_NUMBER}\.\s?{_NUMBER}\.(?!\d)",
    re.IGNORECASE,
)
_DAY_ALONE = re.compile(
    r"\b(?:the|on the|am|el|le|il|de|den|dia|do|da)\s+(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE
)
_CLOCK = re.compile(
    rf"(?<![\w.,:])(\d{{1,2}})(?:[:h]|\sh\s(?=\d\d(?!\s?min))|(?=\.\d\d\s?(?:uhr|uur|h\b))\.)(\d{{2}})(?::\d{{2}})?(?!\d){_HALF}?(?:\s?(utc|gmt|z)\b)?",
    re.IGNORECASE,
)
_HOUR = re.compile(rf"(?<![\w.,:])(\d{{1,2}})(?:{_HALF}|\s?(?:uhr|uur)\b|h(?![\w]))", re.IGNORECASE)
_RANGE = re.compile(
    rf"(?<![\w.,:/])(\d{{1,2}})(?:[:.](\d{{2}}))?\s?(?:-|–|—|to|until|till|bis|a|à|alle|tot|às|do)\s?(\d{{1,2}})(?:[:.]\d{{2}})?(?:{_HALF}|\s?(?:uhr|uur)\b)",
    re.IGNORECASE,
)
_SPOKEN_HOUR = re.compile(
    r"(?<!\w)(?:kl\.?|klo|a las?|alle(?: ore)?|ore|às|o godz\.?)\s?(\d{1,2})(?:[.:](\d{2}))?"
    rf"(?:\s?[-–—]\s?(\d{{1,2}})(?:[.:](\d{{2}}))?)?(?![\d.,:]*\d|\s?[%€$£]|\s(?:{_THINGS})\b)"
    r"|(?<![\w.,:/-])(\d{1,2})\s(?:heures?|o['’]clock)\b",
    re.IGNORECASE,
)
# Chinese, Japanese and Korean write without blanks.
_CJK = "[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_CJK_DAY = re.compile(r"(\d{1,2})(?:月|월)\s?(\d{1,2})(?:日|일)")
_CJK_CLOCK = re.compile(
    r"(?:(午前|上午|오전)|(午後|下午|오후))?\s?(?<!\d)(\d{1,2})(?:時(?!間)|时|点|點|시(?!간))(?:(半|반)|\s?(\d{1,2})(?:分|분))?"
)
_CJK_COUNT = re.compile(r"(?<![\d.])(\d{1,3})\s?(?:件|項目|个|個|项|條|条|개)")
_CJK_BORDER = re.compile(rf"(?<={_CJK})(?=\d)|(?<=\d)(?={_CJK})")
_AMOUNT = re.compile(r"(?<![\w.,:/-])(\d{1,3}(?:[.,' \u00a0]\d{3})*|\d+)[.,](\d{1,2})(?![\d%:/.,]\d|\d|\s?%)")
_WHOLE = r"(\d{1,3}(?:[.,' \u00a0]\d{3})+|\d+)(?![.,]?\d)"
_ABOUT = (
    r"about|around|roughly|approx\w*|almost|nearly|over|under|more than|less than|up to|rund|etwa|ca\.?|circa|ungefähr|knapp|fast|über|unter|unos|unas"
    r"|casi|alrededor de|environ|presque|quasi|ongeveer|bijna|cerca de|około|prawie|omkring|ungefär|~|≈"
)
_WHOLE_MONEY = re.compile(
    rf"((?:{_ABOUT})\s?)?(?:(?:[€$£¥]|EUR|USD|CHF)\s?{_WHOLE}|(?<![\w.,:/-]){_WHOLE}\s?(?:[€$£¥円元]|(?:euros?|EUR|USD|CHF|dollars?|pounds?|zł|kr)\b))",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"(?<![\w.,:/-])(\d{{1,3}}|{'|'.join(sorted(_COUNT_OF, key=len, reverse=True))})\s+(?:[^\W\d]+\s+)?(?:{_THINGS})\b",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"\b(?:row|zeile|fila|ligne|riga|rij|linha|wiersz\w*)\s+(\d{1,6})\b|![A-Z]{1,3}(\d{1,6})\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")

_ADDRESS = re.compile(r"\bhttps?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"[\w-]{7,}")
_PLAIN_PART = re.compile(r"\D*|\d*|\d+[^\W\d_]+|\d{1,2}h\d{2}(?:min[a-z]*|uhr|h)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as told. `half_open`: 5:00 may mean the afternoon. `utc`: told in UTC."""

    hour: int
    minute: int
    half_open: bool
    utc: bool
    words: str

    def __str__(self) -> str:
        plain = f"{self.hour % 24:02d}:{self.minute:02d}"
        return self.words if plain in self.words else f"{self.words} ({plain})"

    def fits(self, moment: datetime) -> bool:
        hours = {self.hour, (self.hour + 12) % 24} if self.half_open else {self.hour % 24}
        return moment.hour in hours and moment.minute == self.minute


@dataclass(frozen=True, slots=True)
class Day:
    """A day as told; `month` None when only the number of the day was said, `swapped` when 7/8 may be 8 July."""

    day: int
    month: int | None
    words: str
    swapped: bool = False

    def fits(self, other: date) -> bool:
        if self.swapped and (other.day, other.month) == (self.month, self.day):
            return True
        return other.day == self.day and self.month in {None, other.month}


@dataclass(frozen=True, slots=True)
class Told:
    """All facts that a text tells."""

    clocks: tuple[Clock, ...]
    days: tuple[Day, ...]
    weekdays: tuple[tuple[int, str], ...]
    amounts: tuple[tuple[Decimal, str], ...]
    counts: tuple[tuple[int, str], ...]
    rows: tuple[int, ...]


def read(text: str, zone: tzinfo) -> Told:
    """The facts of a reply or a prompt. What was read as one fact is not read again as another."""
    clocks: list[Clock] = []
    days: list[Day] = []
    rest = _take(_ISO, _ADDRESS.sub(" ", text), lambda match: _iso(match[0], zone, clocks, days))
    rest = _take(_CJK_DAY, rest, lambda match: days.append(Day(int(match[2]), int(match[1]), match[0])))
    rest = _take(_CJK_CLOCK, rest, lambda match: clocks.append(_cjk_clock(match)))
    counts = [(int(match[1]), match[0]) for match in _CJK_COUNT.finditer(rest)]
    rest = _CJK_BORDER.sub(" ", _CJK_COUNT.sub(" ", rest))
    rest = _TOKEN.sub(lambda match: " " if _is_opaque(match[0]) else match[0], rest)
    rest = _take(_DAY_FIRST, rest, lambda match: days.append(Day(int(match[1]), _month(match[2]), match[0])))
    rest = _take(
        _MONTH_FIRST, rest, lambda match: days.append(Day(int(match[2]), _month(match[1]), match[0]))
    )
    rest = _take(_NUMERIC, rest, lambda match: days.append(_numeric_day(match)))
    rest = _take(_DAY_ALONE, rest, lambda match: days.append(Day(int(match[1]), None, match[0])))
    clocks += [_clock(match[1], match[2] or "00", match[4], "", match[0]) for match in _RANGE.finditer(rest)]
    rest = _take(
        _CLOCK,
        rest,
        lambda match: clocks.append(_clock(match[1], match[2], match[3], match[4] or "", match[0])),
    )
    rest = _take(_HOUR, rest, lambda match: clocks.append(_clock(match[1], "00", match[2], "", match[0])))
    rest = _take(_SPOKEN_HOUR, rest, lambda match: clocks.extend(_spoken_hours(match)))
    rows = tuple(int(match[1] or match[2]) for match in _ROW.finditer(rest))
    rest = _ROW.sub(" ", rest)
    counts += [(_count(match[1]), match[0]) for match in _COUNT.finditer(rest)]
    return Told(
        clocks=tuple(clock for clock in clocks if clock.hour <= 24 and clock.minute < 60),
        days=tuple(day for day in days if 1 <= day.day <= 31),
        weekdays=tuple(_weekdays(rest)),
        amounts=tuple(_amounts(rest)),
        counts=tuple(counts),
        rows=rows,
    )


def _is_opaque(word: str) -> bool:
    """An id of a machine tells nothing: a long part of letters and digits, mixed as no time or day is written."""
    parts = re.split(r"[-_]", word)
    return any(len(part) >= 7 and not _PLAIN_PART.fullmatch(part) for part in parts)


def _take(pattern: re.Pattern[str], text: str, keep: Callable[[re.Match[str]], None]) -> str:
    for match in pattern.finditer(text):
        keep(match)
    return pattern.sub(" ", text)


def _numeric_day(match: re.Match[str]) -> Day:
    return Day(int(match[1] or match[4]), int(match[3] or match[5]), match[0], swapped=True)


def _iso(words: str, zone: tzinfo, clocks: list[Clock], days: list[Day]) -> None:
    moment = values.instant(words, zone)
    told = moment.astimezone(zone) if moment else values.day(words)
    if moment and isinstance(told, datetime):
        clocks.append(Clock(told.hour, told.minute, half_open=False, utc=False, words=words))
    if told:
        days.append(Day(told.day, told.month, words))


def _clock(hour: str, minute: str, half: str | None, utc: str, words: str) -> Clock:
    number = int(hour)
    if half:
        number = number % 12 + (12 if half.lower() == "p" else 0)
    open_half = not half and 1 <= number <= 12 and not hour.startswith("0")
    return Clock(number, int(minute), half_open=open_half, utc=bool(utc), words=words.strip())


def _month(name: str) -> int:
    return _MONTH_OF[name.lower().rstrip(".")]


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNT_OF[word.lower()]


def _spoken_hours(match: re.Match[str]) -> Iterator[Clock]:
    for hour, minute in ((match[1] or match[5], match[2]), (match[3], match[4])):
        if hour:
            yield _clock(hour, minute or "00", None, "", match[0])


def _cjk_clock(match: re.Match[str]) -> Clock:
    half = "a" if match[1] else "p" if match[2] else None
    return _clock(match[3], "30" if match[4] else match[5] or "00", half, "", match[0])


def _amounts(text: str) -> Iterator[tuple[Decimal, str]]:
    """Numbers with cents, and whole sums of money unless they are told as a rough figure."""
    for match in _AMOUNT.finditer(text):
        if not _may_be_a_day(match, text):
            yield _decimal(match), match[0]
    for match in _WHOLE_MONEY.finditer(_AMOUNT.sub(" ", text)):
        if not match[1]:
            yield Decimal(re.sub(r"[^\d]", "", match[2] or match[3])), match[0]


def _may_be_a_day(match: re.Match[str], text: str) -> bool:
    """`8.7.` may be 8 July, and 8.70 at the end of a sentence."""
    written = re.fullmatch(r"(3[01]|[12]?\d)\.(1[0-2]|0?[1-9])", match[0].strip())
    return written is not None and text[match.end() :].startswith(".")


def _decimal(match: re.Match[str]) -> Decimal:
    whole = re.sub(r"[^\d]", "", match[1])
    return Decimal(f"{whole}.{match[2]}")


def _weekdays(text: str) -> Iterator[tuple[int, str]]:
    for word in _WORD.findall(text):
        if word.lower() in _WEEKDAY_OF:
            yield _WEEKDAY_OF[word.lower()], word
