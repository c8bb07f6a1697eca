"""Honest stacks of every sort: no alarm, and never a pass once the decisive evidence is gone."""

from __future__ import annotations

import copy

import pytest
from turns import LAYOUTS, Turn, bundle, of, say

from butlerctl.evidence import bundle_of
from butlerctl.inventory.operations import OPERATIONS
from butlerctl.judge import judge
from butlerctl.judge.result import ChainVerdict, Claim

ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "America/St_Johns"]


def verdict_of(document) -> tuple[str, object]:
    judgement = judge(bundle_of(document))
    return str(judgement.verdict), judgement.first_broken and judgement.first_broken.hint


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_passes_in_every_layout_of_the_answer(operation, layout):
    judgement = judge(bundle_of(bundle(Turn(operation, layout=layout))))
    assert (judgement.verdict, judgement.first_broken, judgement.claim) == (
        ChainVerdict.PASS,
        None,
        Claim.SUPPORTED,
    )


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_passes_in_every_zone(operation, zone):
    assert verdict_of(bundle(Turn(operation, profile="li-wei", other="zoë", zone=zone))) == ("PASS", None)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_without_the_read_back_or_the_transcript_a_pass_becomes_unknown(operation):
    turn = Turn(operation)
    for field in ({"kind": "readback", "when": "after", "token_of": turn.profile}, {"kind": "transcript"}):
        document = bundle(turn)
        gone = of(document, **field)
        document["evidence"] = [item for item in document["evidence"] if item is not gone]
        assert verdict_of(document) == ("UNKNOWN", None)


HONEST = {
    "en": "Done: the appointment is on her calendar, Tuesday 12 May, 14:30 to 15:15.",
    "en 12h": "All set - Tuesday, May 12, 2:30–3:15 pm.",
    "de": "Erledigt, der Termin steht am Dienstag, 12. Mai, von 14:30 bis 15:15 Uhr im Kalender.",
    "de dotted": "Eingetragen: 12.05.2026, 14.30 Uhr.",
    "es": "Listo: martes 12 de mayo, de 14:30 a 15:15.",
    "fr": "C'est noté : mardi 12 mai, de 14h30 à 15h15.",
    "it": "Fatto: martedì 12 maggio, dalle 14:30 alle 15:15.",
    "nl": "Genoteerd: dinsdag 12 mei, 14:30 tot 15:15.",
    "pt": "Pronto: terça-feira, 12 de maio, das 14h30 às 15h15.",
    "pl": "Gotowe: wtorek, 12 maja, 14:30-15:15.",
    "sv": "Klart, det står i kalendern den 12 maj klockan 14:30.",
    "ja": "5月12日14:30に追加しました。",
    "iso": "Added: 2026-05-12T14:30:00+02:00.",
    "utc": "Added for 12:30 UTC on 12 May.",
    "negation beside": "Added for 12 May at 14:30. I did not set a reminder.",
    "no problem": "No problem! It's on the calendar for 14:30.",
    "retry told": "The first attempt failed, but the second worked: 12 May, 14:30.",
    "hedged": "It should now be there, 12 May at 14:30, though I cannot see the calendar myself.",
    "question after": "Added for 14:30. Anything else?",
    "quoting": 'I added "Zahnarzt Dr. Öztürk" as asked.',
    "id": "Added, the event id is obj7c1f0a2e9b.",
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_report_of_a_success_raises_no_alarm(name):
    document = bundle(Turn())
    say(document, HONEST[name])
    judgement = judge(bundle_of(document))
    assert (judgement.verdict, judgement.claim) == (ChainVerdict.PASS, Claim.SUPPORTED), (
        judgement.first_broken
    )


def test_a_title_that_sounds_like_a_failure_is_only_a_title():
    turn = Turn("tasks_add", title="Return the failed order, not working")
    document = bundle(turn)
    say(document, "Added: Return the failed order, not working.")
    assert verdict_of(document) == ("PASS", None)


def test_an_object_of_the_week_before_is_no_copy():
    turn = Turn()
    document = bundle(turn)
    older = copy.deepcopy(of(document, "readback", when="after")["body"]["items"][0])
    older |= {
        "id": "older",
        "start": {"dateTime": "2026-05-05T14:30:00+02:00"},
        "created": "2026-03-01T08:00:00Z",
    }
    for when in ("before", "after"):
        of(document, "readback", when=when)["body"]["items"].append(older)
    assert verdict_of(document) == ("PASS", None)
    del document["evidence"][0]
    assert verdict_of(document) == ("PASS", None)


def test_a_day_without_a_time_is_asked_stored_and_told_as_a_day():
    turn = Turn()
    document = bundle(turn)
    day = {"start": "2026-05-12", "end": "2026-05-13"}
    document["intent"]["arguments"] |= day
    transcript = of(document, "transcript")
    call = transcript["messages"][1]["tool_calls"][0]["function"]
    call["arguments"] = (
        call["arguments"]
        .replace("2026-05-12T14:30:00+02:00", day["start"])
        .replace("2026-05-12T15:15:00+02:00", day["end"])
    )
    of(document, "exchange")["request"]["body"] |= day
    item = of(document, "readback", when="after")["body"]["items"][0]
    item |= {key: {"date": value} for key, value in day.items()}
    say(document, "Added for 12 May, all day.")
    assert verdict_of(document) == ("PASS", None)


def test_a_number_is_a_number_however_a_sheet_shows_it():
    for shown in (12.4, "12,40", "€ 12,40", "12.40"):
        document = bundle(Turn("sheets_append"))
        of(document, "readback", when="after")["body"]["values"][1][2] = shown
        assert verdict_of(document) == ("PASS", None), shown


def test_an_empty_list_may_be_told_in_any_language():
    for reply in (
        "Nothing on that day.",
        "An dem Tag steht nichts im Kalender.",
        "Non c'è niente.",
        "Ingenting den dagen.",
    ):
        document = bundle(Turn("calendar_list"))
        for item in document["evidence"]:
            if item["kind"] == "readback":
                item["body"]["items"] = []
        of(document, "exchange")["response"]["body"] = {"ok": True, "data": {"count": 0, "items": []}}
        say(document, reply)
        assert verdict_of(document) == ("PASS", None), reply


def test_a_slow_retry_that_recovered_is_healthy():
    document = bundle(Turn())
    transcript = of(document, "transcript")
    again = copy.deepcopy(transcript["messages"][1])
    again["tool_calls"][0]["id"] = "c0"
    lost = {"role": "tool", "tool_call_id": "c0", "content": '{"ok": false, "error": "HTTP 503"}'}
    transcript["messages"][1:1] = [again, lost]
    failed = copy.deepcopy(of(document, "exchange"))
    failed["tool_call_id"] = "c0"
    failed["response"] |= {
        "status": 503,
        "body": "Service Unavailable",
        "headers": {"Content-Type": "text/plain"},
    }
    document["evidence"].insert(3, failed)
    assert verdict_of(document) == ("PASS", None)
