"""The patterns of `dates`: how people write days, clocks and lengths in the four languages."""

from __future__ import annotations

import re

from butlerctl.lab.model import words

_MONTH = rf"(?:{words.one_of(words.MONTHS)})\b\.?"
_WEEKDAY = rf"(?:{words.one_of(words.WEEKDAYS)})"
_NUMBER = rf"(?:{words.one_of(words.NUMBERS)})"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"
_ENGLISH_ORDINAL = r"(?:st|nd|rd|th)?"
_YEAR = r"(?:\s*,?\s*(?:del?\s+)?(?P<y>\d{4})\b)?"
# "Saturday the" before a date and "(Saturday)" behind it decorate the date.
_BEFORE = rf"(?:{_WEEKDAY}\s*,?\s+)?(?:(?:the|den|der|dem|el|le)\s+)?"
_AFTER = rf"(?:\s*\(\s*{_WEEKDAY}\s*\))?"
_UNTIL = r"\s*(?:to|-|–|—|until|till|through|bis(?: zum)?|au|al?|à|hasta|jusqu['’]à|jusqu['’]au)\s*"
_AND = r"\s*(?:and|und|y|et)\s*"
_NOT_A_TIME = r"(?![:.]?\d|\s*(?:uhr|h(?![a-z])|am\b|pm\b|a\.m|p\.m))"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


INSTANT = _compile(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z\b|[+-]\d{2}:\d{2}\b)?")

ISO_DAY = _compile(rf"{_BEFORE}\b(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?![\d-]){_AFTER}")
DAY_MONTH = _compile(
    rf"\b{_BEFORE}\b(?P<d>{_DAY}){_ORDINAL}\s*(?:of\s+|de\s+)?\b(?P<mon>{_MONTH}){_YEAR}{_AFTER}"
)
MONTH_DAY = _compile(
    rf"\b{_BEFORE}\b(?P<mon>{_MONTH})\s+(?:the\s+)?(?P<d>{_DAY}){_ENGLISH_ORDINAL}\b(?!:){_YEAR}{_AFTER}"
)
NUMERIC_DAY = _compile(
    rf"{_BEFORE}(?<![\d.,/])(?P<a>\d{{1,2}})(?P<sep>[./])(?P<b>\d{{1,2}})(?P=sep)"
    rf"(?P<y>\d{{4}}|\d{{2}})(?![\d.]\d){_AFTER}"
)
# "4.7." needs a word before it, or it could be an amount at the end of a sentence.
SHORT_NUMERIC_DAY = _compile(
    rf"\b(?:(?:am|vom|zum|den|der|dem|ab|bis)\s+|{_WEEKDAY},?\s+)"
    rf"(?P<a>\d{{1,2}})(?P<sep>\.)(?P<b>\d{{1,2}})\.(?!\d)(?P<y>)"
)
DAY_OF_MONTH = _compile(
    rf"\b(?:(?P<weekday>{_WEEKDAY}),?\s+)?(?:"
    rf"the\s+(?P<d1>{_DAY})(?:st|nd|rd|th)\b|"
    rf"(?:am|zum|den|der|dem)\s+(?P<d2>{_DAY})\.{_NOT_A_TIME}|"
    rf"(?:el|del|le|au)\s+(?:día\s+)?(?P<d3>{_DAY})\b{_NOT_A_TIME})"
)
DAYS_OF_MONTH = _compile(
    rf"\b(?:(?:the|el|le)\s+)?(?P<d1>{_DAY}){_ORDINAL}(?:{_UNTIL}|{_AND})(?:(?:the|zum|el|le)\s+)?"
    rf"(?P<d2>{_DAY}){_ORDINAL}\s*(?:of\s+|de\s+)?\b(?P<mon>{_MONTH}){_YEAR}"
)
MONTH_AND_DAYS = _compile(
    rf"\b(?P<mon>{_MONTH})\s+(?P<d1>{_DAY}){_ENGLISH_ORDINAL}(?:{_UNTIL}|{_AND})"
    rf"(?P<d2>{_DAY}){_ENGLISH_ORDINAL}\b(?!:){_YEAR}"
)

PERIOD = _compile(
    r"\b(?:(?P<this>this week|diese[r]? woche|cette semaine|esta semana)|"
    r"(?P<next>next week|(?:nächste|kommende)[rn]? woche|la semaine prochaine|"
    r"la próxima semana|la semana que viene)|"
    r"(?:(?:the )?(?:next|coming)|(?:die |in den )?(?:nächsten|kommenden)|(?:los )?próximos|les) (?P<days>\d{1,3}) "
    r"(?:days|tagen?|días|prochains jours))\b"
)
RELATIVE_DAY = _compile(
    rf"(?<![\w-])(?<!por la )(?<!de la )(?<!am )(?P<day>{words.one_of(words.RELATIVE_DAYS)})(?![\w-])"
)
IN_DAYS = _compile(
    rf"\b(?:in|dans|en|dentro de)\s+(?P<n>\d{{1,3}}|{_NUMBER})\s+"
    rf"(?:days?|tage?n?|jours?|días?|(?P<week>weeks?|wochen?|semaines?|semanas?))\b"
)
WEEKDAY_ALONE = _compile(
    rf"\b(?:(?:next|this|coming|nächste[nrs]?|kommende[nrs]?|diese[nrs]?|próximo|este|ce)\s+)?"
    rf"(?P<weekday>{_WEEKDAY})(?:\s+(?:prochain|próximo|que viene))?\b"
)

AFTERNOON = words.pattern(words.AFTERNOON)
MORNING = words.pattern(words.MORNING)

DURATION = _compile(
    rf"\b(?:(?P<intro>for|lasting|lasts?|long|für|dauert|dauer|durante|dura|duración(?: de)?|pendant|durant|pour|durée(?: de)?|"
    rf"duration(?: of)?):?\s+)?"
    rf"(?:(?P<half>half an?|eine halbe|media|une demi(?:e)?-?)|(?P<n>\d+(?:[.,]\d+)?|anderthalb|{_NUMBER}|an?))[\s-]*"
    rf"(?P<unit>hours?|hrs?|minutes?|mins?|stunden?|std|minuten?|heures?|horas?|minutos?|h)\b"
    rf"(?P<more>\s+and a half|\s+und eine halbe|\s+y media|\s+et demie?)?"
    rf"(?:\s*(?:and|und|y|et)?\s*(?P<minutes>\d{{1,2}})\s*(?:minutes?|mins?|minuten|minutos))?(?:\s+(?:long|lang))?"
)


def _clock(tag: str) -> str:
    """A time of day; the names of its groups end in `tag`."""
    return (
        rf"(?:(?P<past{tag}>half past|quarter past|quarter to|halb|viertel nach|viertel vor)\s+)?"
        rf"(?:(?P<name{tag}>noon|midday|midnight|mittags?|mitternacht|mediodía|medianoche|midi|minuit)|"
        rf"(?P<h{tag}>(?:[01]?\d|2[0-4])(?!\d)|{_NUMBER}\b)"
        rf"(?:(?:[:h]|\.(?=\d\d\s*uhr))(?P<m{tag}>[0-5]\d)(?!\d)(?::[0-5]\d)?)?"
        rf"(?:\s*(?P<mark{tag}>uhr|o['’]clock|heures?|horas?|hrs?|h)\b(?:\s*(?P<n{tag}>[0-5]\d)\b(?![:.]))?)?"
        rf"(?:\s*(?P<half{tag}>[ap]\.?m)\b\.?)?"
        rf"(?:\s+(?P<y{tag}>y media|y cuarto|et demie?|et quart))?)(?!\w)"
    )


BETWEEN = _compile(
    rf"\b(?P<intro>(?:between|zwischen|entre(?: las?)?)\s+){_clock('1')}{_AND}(?:las?\s+)?{_clock('2')}"
)
FROM_TO = _compile(
    rf"(?P<intro>\b(?:from|von|de(?: las?)?|desde(?: las?)?)\s+)?(?<![\w.,:+-]){_clock('1')}{_UNTIL}(?:las?\s+)?{_clock('2')}"
)
AT = _compile(
    rf"(?P<intro>\b(?:at|um|a las?|à|ab|starting at|ending at|until|till|bis|hasta las?|jusqu['’]à)\s+)?"
    rf"(?<![\w.,:+-]){_clock('1')}"
)
