"""The lab's model is told nothing: other words, and another language, lead to the same round trips.

Only the prompt changes. What is expected of the call, Google and the reply is the canary's own, as in `verify`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from butlerctl.checks.canary import new_canary
from butlerctl.checks.connect import connect
from butlerctl.checks.roundtrip import Parties, travel
from butlerctl.evidence import Bundle
from butlerctl.inventory.loader import load_inventory
from butlerctl.judge import judge
from butlerctl.lab.stack import Lab
from butlerctl.ledger import Ledger
from butlerctl.progress import Nobody
from tests.lab.shell import ROOT

MONTHS = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember")  # fmt: skip
ZONE = ZoneInfo("America/New_York")


def clock(moment):
    return f"{moment:%I:%M %p}".lstrip("0").lower()


class Words:
    """What the sentences need of one canary."""

    def __init__(self, canary, person):
        self.who, self.title = canary.profile, canary.title
        self.start, self.end = canary.start, canary.end
        self.early, self.late = self.start - timedelta(hours=1), self.end + timedelta(hours=1)
        self.day = f"{self.start:%A}, {self.start:%B} {self.start.day}, {self.start.year}"
        self.tag = f"{self.start.day}. {MONTHS[self.start.month - 1]} {self.start.year}"
        self.iso = f"{self.start:%Y-%m-%d}"
        self.tab = person.spreadsheet.verify_tab
        self.cells = canary.add.arguments.get("values", ())
        self.pairs = list(zip(person.spreadsheet.columns, self.cells, strict=False))


# For each domain: how to ask for the object, and how to ask to look at it.
ENGLISH = {
    "calendar": [
        (lambda w: f'Could you put "{w.title}" in the {w.who}\'s diary for {w.day}, {clock(w.start)} until {clock(w.end)}?',
         lambda w: f"Which appointments does the {w.who} have on {w.day} between {clock(w.early)} and {clock(w.late)}?"),
        (lambda w: f'New appointment for the {w.who}: "{w.title}", {w.iso}, {w.start:%H:%M}-{w.end:%H:%M}.',
         lambda w: f"Show me the {w.who}'s agenda for {w.iso} from {w.early:%H:%M} to {w.late:%H:%M}."),
        (lambda w: f'On {w.day} at {clock(w.start)} the {w.who} needs an hour for "{w.title}". Please schedule it.',
         lambda w: f"Is there anything on the {w.who}'s calendar on {w.day} from {clock(w.early)} to {clock(w.late)}?"),
    ],
    "tasks": [
        (lambda w: f'Remind the {w.who} to do "{w.title}" by {w.day}: put it on the to-do list.',
         lambda w: f"What does the {w.who} still have to do? Read me the task list."),
        (lambda w: f'New to-do for the {w.who}, due {w.iso}: "{w.title}".',
         lambda w: f"Show me the {w.who}'s to-dos."),
        (lambda w: f'Can you create a task called "{w.title}" for the {w.who}? It is due on {w.day}.',
         lambda w: f"Are there open tasks for the {w.who}?"),
    ],
    "sheets": [
        (lambda w: f'Add a line to "{w.tab}" in the {w.who}\'s spreadsheet with {", ".join(f"{c}: {v}" for c, v in w.pairs)}.',
         lambda w: f'What is in the tab "{w.tab}" of the {w.who}\'s spreadsheet?'),
        (lambda w: f'In the {w.who}\'s sheet "{w.tab}", write a new row: {", ".join(f"{c} = {v}" for c, v in w.pairs)}.',
         lambda w: f'Show me all rows of "{w.tab}" in the {w.who}\'s sheet.'),
        (lambda w: f'Log this in the {w.who}\'s "{w.tab}" sheet: {", ".join(f"{c} {v}" for c, v in w.pairs)}.',
         lambda w: f'Read me the {w.who}\'s sheet "{w.tab}", please.'),
    ],
}  # fmt: skip
GERMAN = {
    "calendar": [
        (lambda w: f'Trag bitte "{w.title}" am {w.tag} von {w.start:%H:%M} bis {w.end:%H:%M} Uhr in den Kalender von {w.who} ein.',
         lambda w: f"Welche Termine stehen am {w.tag} zwischen {w.early:%H:%M} und {w.late:%H:%M} Uhr im Kalender von {w.who}?"),
        (lambda w: f'Neuer Termin für {w.who}: "{w.title}", {w.tag}, {w.start:%H:%M} bis {w.end:%H:%M} Uhr.',
         lambda w: f"Zeig mir den Kalender von {w.who} für den {w.tag} von {w.early:%H:%M} bis {w.late:%H:%M} Uhr."),
        (lambda w: f'{w.who} hat am {w.tag} um {w.start:%H:%M} Uhr eine Stunde lang "{w.title}". Bitte in den Kalender eintragen.',
         lambda w: f"Was hat {w.who} am {w.tag} zwischen {w.early:%H:%M} und {w.late:%H:%M} Uhr im Kalender?"),
    ],
    "tasks": [
        (lambda w: f'Setz bitte die Aufgabe "{w.title}" auf die Aufgabenliste von {w.who}, fällig am {w.tag}.',
         lambda w: f"Welche Aufgaben hat {w.who} noch offen?"),
        (lambda w: f'Neue Aufgabe für {w.who}, fällig am {w.tag}: "{w.title}".',
         lambda w: f"Zeig mir die Aufgabenliste von {w.who}."),
        (lambda w: f'Leg für {w.who} eine Aufgabe namens "{w.title}" an, die am {w.tag} fällig ist.',
         lambda w: f"Was steht auf der Aufgabenliste von {w.who}?"),
    ],
    "sheets": [
        (lambda w: f'Trag bitte in die Tabelle "{w.tab}" von {w.who} eine neue Zeile ein: {", ".join(f"{c}: {v}" for c, v in w.pairs)}.',
         lambda w: f'Was steht in der Tabelle "{w.tab}" von {w.who}?'),
        (lambda w: f'Häng an das Blatt "{w.tab}" von {w.who} eine Zeile an: {", ".join(f"{c} {v}" for c, v in w.pairs)}.',
         lambda w: f'Lies mir das Blatt "{w.tab}" von {w.who} vor.'),
        (lambda w: f'Neue Zeile für die Tabelle "{w.tab}" von {w.who}: {", ".join(f"{c} = {v}" for c, v in w.pairs)}.',
         lambda w: f'Zeig mir alle Zeilen der Tabelle "{w.tab}" von {w.who}.'),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def household(tmp_path_factory):
    """A lab, butlerctl's own clients of it, and a ledger."""
    inventory = load_inventory(ROOT / "inventory.yaml", {})
    with (
        Lab(inventory) as lab,
        connect(lab.inventory) as clients,
        Ledger(tmp_path_factory.mktemp("ledger")) as ledger,
    ):
        yield lab, clients, ledger


@pytest.mark.parametrize("profile", ["husband", "wife"])
@pytest.mark.parametrize("way", [0, 1, 2])
@pytest.mark.parametrize("domain", list(ENGLISH))
@pytest.mark.parametrize("language", [ENGLISH, GERMAN], ids=["english", "german"])
def test_the_round_trip_passes_in_other_words(household, language, domain, way, profile):
    lab, clients, ledger = household
    person = lab.inventory.profiles[profile]
    canary = new_canary(domain, person, ZONE, datetime.now(ZONE).date())
    words = Words(canary, person)
    ask, look = (say(words) for say in language[domain][way])
    canary = replace(canary, add=replace(canary.add, prompt=ask), look=replace(canary.look, prompt=look))
    trip = travel(parties(lab, clients, domain, profile), canary, lab.inventory.routes, ledger, Nobody())
    assert trip.problems == ()
    assert trip.cleanup.gone
    for route, request in trip.requests.items():
        bundle = Bundle(
            intent=request.as_intent(), evidence=trip.evidence[route], clock=datetime.now(UTC), zone=ZONE
        )
        judged = judge(bundle)
        assert judged.verdict == "PASS", (request.prompt, judged.first_broken)
        assert (judged.turn, judged.claim) == ("confirmed", "supported"), request.prompt
    assert not any(stored.live for stored in lab.google.objects_with(canary.nonce))


def parties(lab, clients, domain, profile):
    others = tuple(
        system for (place, person), system in clients.systems.items() if place == domain and person != profile
    )
    ids = {route: lab.workflow_id(route) for route in lab.inventory.routes}
    return Parties(clients.gateway, clients.api, ids, clients.systems[domain, profile], others)
