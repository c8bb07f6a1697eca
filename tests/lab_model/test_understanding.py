"""The model is told nothing about prompts: every request is said in three ways and more, in four languages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_household import COUPLE, FAMILY, household, offered, rules

from butlerctl.checks.canary import new_canary, new_nonce, title_of
from butlerctl.lab.model.household import household_of
from butlerctl.lab.model.understand import Unclear, Wanted, understand

CODE = "BTLR-7K2MABCDEF"
MORNING = {"start": "2027-07-04T10:00:00-04:00", "end": "2027-07-04T11:00:00-04:00"}


def understood(prompt: str, **options: Any) -> tuple[str, dict[str, Any]]:
    wanted = understand(prompt, household(**options))
    assert isinstance(wanted, Wanted), f"{prompt!r} was not understood: {wanted}"
    return wanted.tool, dict(wanted.arguments)


@pytest.mark.parametrize(
    "prompt",
    [
        'Please add "{t}" to the wife\'s calendar on 4 July 2027 from 10:00 to 11:00.',
        "Create an appointment {t} for my wife on July 4th, 2027, 10 to 11 am.",
        "My wife has {t} on 4 July 2027 from 10:00 to 11:00, please put it in her calendar.",
        "Could you schedule {t} in the WIFE calendar on 2027-07-04 at 10 am for one hour?",
        "I need an event in the wife's calendar. Title: {t}. Start: 2027-07-04 10:00. End: 2027-07-04 11:00.",
        "Put an event called {t} on the wife's calendar, 2027-07-04T10:00:00-04:00 to 2027-07-04T11:00:00-04:00.",
        "Put an event called {t} on the wife's calendar for 2027-07-04, 10 o'clock till 11. Tell me its id.",
        "Trage für die Frau am 4. Juli 2027 von 10 bis 11 Uhr {t} in den Kalender ein.",
        "Bitte lege im Kalender meiner Frau einen Termin namens „{t}“ am 4. Juli 2027 um 10 Uhr für eine Stunde an.",
        "Kannst du am 04.07.2027 zwischen 10:00 und 11:00 Uhr {t} in den Kalender der Ehefrau eintragen?",
        "Ajoute « {t} » au calendrier de ma femme le 4 juillet 2027 de 10h à 11h.",
        "Peux-tu noter {t} dans l'agenda de l'épouse le 4 juillet 2027 à 10 heures pendant une heure ?",
        "Le 4 juillet 2027 de 10:00 à 11:00, mets {t} dans le calendrier de ma femme s'il te plaît.",
        "Añade {t} al calendario de mi mujer el 4 de julio de 2027 de 10:00 a 11:00.",
        "Por favor, crea un evento llamado {t} para mi esposa el 4 de julio de 2027, de las 10 a las 11.",
        "¿Puedes poner «{t}» en la agenda de la mujer el 4 de julio de 2027 a las 10 de la mañana durante una hora?",
    ],
)
@pytest.mark.parametrize("title", [CODE, f"butler check {CODE}"])
def test_an_event_is_understood_however_it_is_said(prompt: str, title: str) -> None:
    assert understood(prompt.format(t=title)) == (
        "add_calendar_event",
        {"profile": "wife", "summary": title, **MORNING},
    )


@pytest.mark.parametrize(
    "prompt",
    [
        'Add the task "{t}" to the husband\'s list Household, due 2027-07-04.',
        "Put {t} on the husband's Household task list, due on July 4th 2027.",
        "The husband needs to do {t} by 4 July 2027 - put it on his list Household.",
        "Bitte notiere für den Mann die Aufgabe „{t}“ bis 4. Juli 2027 in der Liste Household.",
        "Schreib {t} auf die Aufgabenliste Household meines Mannes, fällig am 4. Juli 2027.",
        "Ajoute la tâche {t} à la liste Household du mari, à faire avant le 4 juillet 2027.",
        "Agrega la tarea {t} a la lista Household de mi marido para el 4 de julio de 2027.",
    ],
)
def test_a_task_is_understood_however_it_is_said(prompt: str) -> None:
    expected = {"profile": "husband", "title": CODE, "due": "2027-07-04", "list": "Household"}
    assert understood(prompt.format(t=CODE)) == ("add_task", expected)


@pytest.mark.parametrize(
    "prompt",
    [
        'Append the row 2027-07-04, {t}, 1.25 to the wife\'s sheet "butler verify".',
        "Append a row to the wife's butler verify tab: date 2027-07-04, item {t}, amount 1.25",
        "Füge der Tabelle meiner Frau, Blatt butler verify, eine Zeile hinzu mit Datum 4.7.2027, Posten {t} und Betrag 1,25",
        "Append a row to the wife's butler verify tab: amount 1.25, item {t} and date 2027-07-04.",
        "Put a new line with 4 July 2027, {t} and 1.25 into the wife's 'butler verify' sheet.",
        "Log an expense of 1.25 for {t} dated 2027-07-04 in the wife's butler verify sheet.",
        "Trage in die Tabelle meiner Frau, Blatt butler verify, eine Zeile ein: 2027-07-04; {t}; 1,25",
        "Hänge an das Blatt „butler verify“ der Frau die Zeile „2027-07-04“, „{t}“, „1.25“ an.",
        "Ajoute une ligne à la feuille butler verify de ma femme : 2027-07-04, {t}, 1.25",
        'Añade una fila en la hoja "butler verify" de mi mujer con los valores 2027-07-04, {t}, 1.25',
    ],
)
def test_a_row_is_understood_however_it_is_said(prompt: str) -> None:
    expected = {"profile": "wife", "sheet": "butler verify", "values": ["2027-07-04", CODE, "1.25"]}
    assert understood(prompt.format(t=CODE)) == ("append_sheet_row", expected)


@pytest.mark.parametrize(
    "prompt",
    [
        "What is in the husband's calendar on 4 July 2027 between 10:00 and 11:00?",
        "List the events of my husband from 2027-07-04T10:00:00-04:00 to 2027-07-04T11:00:00-04:00.",
        "I want to see the husband's appointments on July 4th, 2027, 10 to 11 am",
        "Welche Termine hat mein Mann am 4. Juli 2027 zwischen 10 und 11 Uhr?",
        "Zeig mir den Kalender des Mannes für den 4. Juli 2027 von 10:00 bis 11:00.",
        "Qu'est-ce qu'il y a dans le calendrier du mari le 4 juillet 2027 entre 10h et 11h ?",
        "¿Qué tiene mi marido el 4 de julio de 2027 de 10:00 a 11:00?",
    ],
)
def test_a_look_into_a_calendar_is_understood_however_it_is_said(prompt: str) -> None:
    assert understood(prompt) == ("list_calendar_events", {"profile": "husband", **MORNING})


@pytest.mark.parametrize(
    "prompt",
    [
        "Which open tasks are on the wife's task list?",
        "Show me my wife's tasks.",
        "Anything open on the wife's list?",
        "What still has to be done by the wife?",
        "Welche offenen Aufgaben hat meine Frau?",
        "Was hat meine Frau noch zu erledigen?",
        "Zeige die Aufgabenliste der Frau.",
        "Quelles sont les tâches de ma femme ?",
        "Y a-t-il des tâches pour l'épouse ?",
        "¿Qué tareas tiene mi mujer?",
    ],
)
def test_a_look_at_tasks_is_understood_however_it_is_said(prompt: str) -> None:
    assert understood(prompt) == ("list_tasks", {"profile": "wife"})


@pytest.mark.parametrize(
    "prompt",
    [
        'Please read the husband\'s sheet "butler verify" and tell me its rows.',
        "What rows are in the husband's butler verify tab?",
        "Show the tab butler verify of my husband's spreadsheet.",
        "Lies mir das Blatt butler verify meines Mannes vor.",
        "Was steht in der Tabelle des Mannes im Blatt „butler verify“?",
        "Montre-moi la feuille butler verify du mari.",
        "Léeme la hoja butler verify de mi marido.",
    ],
)
def test_reading_a_sheet_is_understood_however_it_is_said(prompt: str) -> None:
    assert understood(prompt) == ("read_sheet", {"profile": "husband", "sheet": "butler verify"})


@pytest.mark.parametrize("domain", ["calendar", "tasks", "sheets"])
@pytest.mark.parametrize("profile", ["husband", "wife"])
def test_the_requests_of_a_round_trip_are_understood_for_any_nonce(
    domain: str, profile: str, lab_inventory: Any
) -> None:
    person, zone = lab_inventory.profiles[profile], household().zone
    for _ in range(20):
        canary = new_canary(domain, person, zone, household().today)
        for request in (canary.add, canary.look):
            wanted = understand(request.prompt, household())
            assert isinstance(wanted, Wanted)
            assert dict(wanted.arguments) == dict(request.arguments)


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        ("tomorrow at 3 pm for one hour", "2026-07-09T15:00:00-04:00", "2026-07-09T16:00:00-04:00"),
        ("next Tuesday from 2-3pm", "2026-07-14T14:00:00-04:00", "2026-07-14T15:00:00-04:00"),
        ("on Friday from 11 to 1 pm", "2026-07-10T11:00:00-04:00", "2026-07-10T13:00:00-04:00"),
        ("on 14 July from 10 to 11 in the morning", "2026-07-14T10:00:00-04:00", "2026-07-14T11:00:00-04:00"),
        ("on Friday evening at 8 for 90 minutes", "2026-07-10T20:00:00-04:00", "2026-07-10T21:30:00-04:00"),
        (
            "on 07/10/2026 at half past ten for half an hour",
            "2026-07-10T10:30:00-04:00",
            "2026-07-10T11:00:00-04:00",
        ),
        ("on 4 July from 10 to 11", "2027-07-04T10:00:00-04:00", "2027-07-04T11:00:00-04:00"),
        ("on the 22nd from noon to 1 pm", "2026-07-22T12:00:00-04:00", "2026-07-22T13:00:00-04:00"),
        ("on 9 July from 23:00 to 1:00", "2026-07-09T23:00:00-04:00", "2026-07-10T01:00:00-04:00"),
        ("from 9 July 22:00 until 10 July 06:00", "2026-07-09T22:00:00-04:00", "2026-07-10T06:00:00-04:00"),
        ("morgen um 10 Uhr für anderthalb Stunden", "2026-07-09T10:00:00-04:00", "2026-07-09T11:30:00-04:00"),
        (
            "am nächsten Montag um halb elf, 30 Minuten",
            "2026-07-13T10:30:00-04:00",
            "2026-07-13T11:00:00-04:00",
        ),
        ("am 9.7. von 15 bis 16 Uhr", "2026-07-09T15:00:00-04:00", "2026-07-09T16:00:00-04:00"),
        ("demain de 14h à 15h30", "2026-07-09T14:00:00-04:00", "2026-07-09T15:30:00-04:00"),
        (
            "mañana a las 10 y media durante una hora",
            "2026-07-09T10:30:00-04:00",
            "2026-07-09T11:30:00-04:00",
        ),
        (
            "in 3 days between 3 and 4 in the afternoon",
            "2026-07-11T15:00:00-04:00",
            "2026-07-11T16:00:00-04:00",
        ),
        (
            "on 1 December 2026 at 10:00 for one hour",
            "2026-12-01T10:00:00-05:00",
            "2026-12-01T11:00:00-05:00",
        ),
    ],
)
def test_times_as_people_say_them_become_instants_of_the_household(said: str, start: str, end: str) -> None:
    _, arguments = understood(f"Add 'Tennis' to the wife's calendar {said}.")
    assert (arguments["start"], arguments["end"]) == (start, end)


def test_the_offset_follows_the_clocks_of_the_day_and_a_length_is_real_time() -> None:
    prompt = "Add 'Night' to Anna's calendar on 25 October 2026 at 01:30 for 3 hours."
    _, arguments = understood(prompt, shape=FAMILY, zone="Europe/Berlin")
    assert arguments["start"] == "2026-10-25T01:30:00+02:00"
    assert arguments["end"] == "2026-10-25T03:30:00+01:00"


def test_a_slashed_date_is_read_as_the_household_writes_it() -> None:
    prompt = "Add 'Tennis' to the calendar of {} on 07/04/2027 from 10:00 to 11:00"
    assert understood(prompt.format("wife"))[1]["start"].startswith("2027-07-04")
    berlin = understood(prompt.format("Anna"), shape=FAMILY, zone="Europe/Berlin")
    assert berlin[1]["start"].startswith("2027-04-07")


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What does Ben have tomorrow?", {"profile": "ben", "start": "2026-07-09T00:00:00+02:00", "end": "2026-07-10T00:00:00+02:00"}),
        ("List my mother's tasks", {"profile": "mom"}),
        ("Put milk on Anna's Groceries list", {"profile": "anna", "title": "milk", "list": "Groceries"}),
        ("Was steht auf Annas Liste Groceries?", {"profile": "anna", "list": "Groceries"}),
        ("Read the first 10 rows of kid 1's Pocket money sheet", {"profile": "kid_1", "sheet": "Pocket money", "limit": 10}),
        ("Trage in Annas Blatt Ausgaben 2026 ein: 30.11.2026, Brot, 3,20", {"profile": "anna", "sheet": "Ausgaben 2026", "values": ["2026-11-30", "Brot", "3.20"]}),
        ("Append to Ben's Ledger: today; Ben; haircut; 25", {"profile": "ben", "sheet": "Ledger", "values": ["2026-07-08", "Ben", "haircut", "25"]}),
        ("Schedule a call with Ben in Anna's calendar tomorrow 3-4pm", {"profile": "anna", "summary": "call with Ben", "start": "2026-07-09T15:00:00+02:00", "end": "2026-07-09T16:00:00+02:00"}),
    ],
)  # fmt: skip
def test_another_household_with_other_people_lists_and_columns_is_understood(
    prompt: str, expected: Any
) -> None:
    assert understood(prompt, shape=FAMILY, zone="Europe/Berlin")[1] == expected


def test_what_stands_in_quotes_stays_a_title_even_with_a_person_and_a_time_in_it() -> None:
    prompt = (
        "Add 'Call the husband at 9:00 on Friday' to the wife's calendar on 4 July 2027 from 10:00 to 11:00"
    )
    assert understood(prompt)[1] == {
        "profile": "wife",
        "summary": "Call the husband at 9:00 on Friday",
        **MORNING,
    }


@pytest.mark.parametrize(
    ("prompt", "missing"),
    [
        ("Add 'x' to the calendar tomorrow from 7 to 8 pm", "profile"),
        ("Add 'x' to the wife's calendar", "start"),
        ("Add 'x' to the wife's calendar on 4 July", "start"),
        ("Add 'x' to the wife's calendar on 4 July at 10:00", "end"),
        ("Add an event to the wife's calendar on 4 July from 10 to 11", "title"),
        ("Read the wife's spreadsheet", "sheet"),
        ("Add a row to the wife's sheet butler verify", "values"),
        ("Delete the dentist from the wife's calendar", "tool"),
    ],
)
def test_what_is_missing_is_asked_for_and_never_invented(prompt: str, missing: str) -> None:
    unclear = understand(prompt, household())
    assert isinstance(unclear, Unclear)
    assert unclear.missing == missing


@pytest.mark.parametrize(
    "prompt", ["Hello!", "Thanks, that was great.", "What's the weather like?", "Wie geht es dir?", ""]
)
def test_small_talk_calls_nothing(prompt: str) -> None:
    assert understand(prompt, household()) is None


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    tools = [tool for tool in offered(COUPLE) if tool["function"]["name"] != "add_task"]
    unclear = understand(
        f"Add the task {CODE} for the wife", household_of([rules("2026-07-08", "UTC")], tools)
    )
    assert unclear == Unclear("add_task", "tool")


_BITS = st.sampled_from(
    [
        "Add",
        "put",
        "'x\"",
        "„",
        "“",
        "«",
        "wife's",
        "the",
        "husband",
        "calendar",
        "sheet",
        "Log",
        "task",
        "row",
        ":",
        ",",
        ";",
        "|",
        "10:00",
        "24:00",
        "25:99",
        "from",
        "to",
        "bis",
        "31",
        "February",
        "9999-12-31",
        "0001-01-01",
        "2026-02-30",
        "next",
        "Friday",
        "in",
        "999",
        "weeks",
        "half",
        "past",
        "one",
        "7/4/2026",
        "4.7.",
        "am",
        "pm",
        "first",
        "5",
        "2026-07-04T10:00:00+14:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59Z",
        "heute",
        "um",
        "halb",
        "für",
        "eine",
        "Stunde",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_BITS | st.text(max_size=8), max_size=14).map(" ".join))
def test_no_text_brings_the_model_down(text: str) -> None:
    wanted = understand(text, household())
    assert wanted is None or wanted.tool in household().tools


def test_a_title_with_a_nonce_is_found_without_quotes() -> None:
    for _ in range(50):
        title = title_of(new_nonce())
        assert understood(f"Put {title} on the wife's task list for tomorrow")[1]["title"] == title
