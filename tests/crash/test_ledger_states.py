"""The ledger against a model: any order of writes, crashes, torn tails and restarts."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from butlerctl.ledger import FILE_NAME, Asked, Ledger, Window, read_journal

START = datetime(2026, 12, 14, tzinfo=UTC)
NONCES = st.sampled_from(["BTLR-2222222222", "BTLR-3333333333", "BTLR-4444444444"])
TEXTS = st.text(max_size=20)


class LedgerMachine(RuleBasedStateMachine):
    """`events` is what was acknowledged. A tear may only take the last line, as a crash does."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / FILE_NAME
        self.events: list[tuple[str, str]] = []

    @initialize()
    def open(self):
        self.ledger = Ledger(self.folder)

    @rule(nonce=NONCES, profile=TEXTS, container=TEXTS, preflight=st.booleans())
    def ask(self, nonce, profile, container, preflight):
        window = Window(START, START + timedelta(hours=1))
        self.ledger.asked(Asked(nonce, "tasks", profile, container, window, START, preflight))
        self.events.append(("asked", nonce))

    @rule(nonce=NONCES, object_id=TEXTS)
    def announce_a_delete(self, nonce, object_id):
        self.ledger.deleting(nonce, object_id, '"1"')
        self.events.append(("deleting", nonce))

    @rule(nonce=NONCES)
    def see_it_gone(self, nonce):
        self.ledger.gone(nonce)
        self.events.append(("gone", nonce))

    @rule(nonce=NONCES, reason=TEXTS)
    def refuse(self, nonce, reason):
        self.ledger.refused(nonce, "id", "link", [reason])
        self.events.append(("refused", nonce))

    @rule(share=st.floats(min_value=0.0, max_value=0.99))
    def crash_in_the_middle_of_a_line(self, share):
        """A line that was being written, and never acknowledged, is there in part."""
        self.ledger.close()
        whole = self.path.read_bytes()
        with Ledger(self.folder) as writer:
            writer.gone("BTLR-2222222222")
        line = len(self.path.read_bytes()) - len(whole)
        os.truncate(self.path, len(whole) + int(line * share))
        self.ledger = Ledger(self.folder)

    @rule()
    def restart(self):
        self.ledger.close()
        self.ledger = Ledger(self.folder)

    @invariant()
    def every_acknowledged_event_is_there_and_no_other(self):
        journal = read_journal(self.path)
        assert [(entry["event"], entry["nonce"]) for entry in journal.entries] == self.events
        assert journal.damaged == ()

    @invariant()
    def open_is_what_was_asked_and_not_seen_gone_since(self):
        state = {nonce: event for event, nonce in self.events}
        asked = {nonce for event, nonce in self.events if event == "asked"}
        later = datetime.now(UTC) + timedelta(days=2)
        found = {entry.nonce for entry in read_journal(self.path).open_canaries(later)}
        assert found == {nonce for nonce in asked if state[nonce] != "gone"}

    def teardown(self):
        self.ledger.close()
        shutil.rmtree(self.folder)


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
