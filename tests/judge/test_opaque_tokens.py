"""An id of a machine is no fact: whatever digits and letters it holds, a reply that quotes it tells no time or day."""

from __future__ import annotations

import random
import string
from datetime import UTC

import pytest

from butlerctl.checks.canary import NONCE_ALPHABET
from butlerctl.judge import told

QUOTED = ("The id is {}.", "({})", "id={}", "`{}`", "*{}*", "Ref: {}, noted", "{}", "„{}“")
# Each kind of id that n8n, Google or a gateway shows, made so that a time of day stands in it.
KINDS = {
    "an event of Google": "gl9t3s82q1n8sgtjgh1ili6g6h",
    "an event that begins with a time": "9pm3s82q1n8sgt10h30li6g6h",
    "a nonce": "BTLR-10AM2PM3H4",
    "a nonce of one time": "BTLR-12H34ABCDE",
    "a nonce in a cell": "BTLR-5PM7AM9H22-c",
    "a workflow of n8n": "8pmUh12h30zQx9aB",
    "a UUID": "9f81859d-10h2-5pm0-8875-0c4c5f4f41e4",
    "a task": "MTI6NXBtOjEwaDMw",
    "a link": "https://www.google.com/calendar/event?eid=10h30-5pm&ctz=9am",
    "an address of mail": "10pm@5pm.example.test",
}
READ_AS_WRITTEN = {
    "at 14h30min": (14, 30),
    "um 14h30 Uhr": (14, 30),
    "at 2026-12-14T11:00:00-05:00": (16, 0),
    "10am-ish": (10, 0),
    "from 10:15am": (10, 15),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("around", QUOTED)
def test_an_id_tells_no_fact(kind, around):
    facts = told.read(around.format(KINDS[kind]), UTC)
    assert facts == told.Told((), (), (), (), (), ())


def test_no_random_id_tells_a_time_or_a_day():
    source = random.Random(20260714)  # noqa: S311 - no secrets, the same ids in every run
    for alphabet, length in (
        ("0123456789abcdefghijklmnopqrstuv", 26),
        (string.ascii_letters + string.digits, 16),
    ):
        for _ in range(3000):
            word = "".join(source.choice(alphabet) for _ in range(length))
            facts = told.read(f"Event {word} is there.", UTC)
            assert not facts.clocks, word
            assert not facts.days, word
    for _ in range(3000):
        nonce = "BTLR-" + "".join(source.choice(NONCE_ALPHABET) for _ in range(10))
        facts = told.read(f"butler check {nonce} and {nonce}-a", UTC)
        assert facts.clocks == facts.days == (), nonce


@pytest.mark.parametrize("words", READ_AS_WRITTEN)
def test_a_time_beside_letters_is_still_read(words):
    clock = told.read(f"It is {words}.", UTC).clocks[0]
    assert (clock.hour, clock.minute) == READ_AS_WRITTEN[words]
