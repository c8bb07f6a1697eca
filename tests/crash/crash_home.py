"""A lab in the test's own process, butlerctl in another one that dies: what Google holds is looked at directly."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.google.faults import Fault
from butlerctl.lab.stack import BUTLERCTL_CLIENT, N8N_CLIENT, Lab
from butlerctl.ledger import FILE_NAME, Journal, read_journal
from tests.lab.shell import Shell

INSERT = {"calendar": "calendar.events.insert", "tasks": "tasks.tasks.insert", "sheets": "sheets.spreadsheets.values.update"}  # fmt: skip
DELETE = {"calendar": "calendar.events.delete", "tasks": "tasks.tasks.delete", "sheets": "sheets.spreadsheets.batchUpdate"}  # fmt: skip
FOREIGN = "not butlerctl's BTLR-7K2MXW4QRT"
"""Looks like a test object, and no ledger knows it."""


@dataclass
class CrashHome:
    shell: Shell
    lab: Lab

    def plant_foreign_objects(self) -> None:
        """An event, a task and a row of somebody else, for both people."""
        for account in self.lab.plan.accounts:
            grant = self.lab.google.grant(account.email, client=N8N_CLIENT)
            token = self.lab.google.access_token(grant)
            _post(self.lab.google_url, token, f"/calendar/v3/calendars/{account.calendar}/events", _event())
            for list_id in account.task_lists.values():
                _post(self.lab.google_url, token, f"/tasks/v1/lists/{list_id}/tasks", {"title": FOREIGN})
            path = f"/v4/spreadsheets/{account.spreadsheet}/values/{account.tabs[-1]}:append?valueInputOption=RAW"
            _post(self.lab.google_url, token, path, {"values": [[FOREIGN, "milk", 3]]})

    def delay(
        self, method: str, *, before: float = 0.0, after: float = 0.0, own: bool, **more: object
    ) -> Fault:
        """This method of Google takes its time, for butlerctl itself (`own`) or for n8n."""
        client = BUTLERCTL_CLIENT if own else N8N_CLIENT
        return self.lab.google.faults.plant(
            Fault(method, delay=before, delay_after=after, client=client.id, **more)
        )

    def slow(self) -> None:
        """Google takes its time for butlerctl: enough of it to be killed in."""
        self.delay("*", before=0.2, own=True)

    @property
    def journal(self) -> Journal:
        folders = [path for path in (self.shell.folder / "state").iterdir() if path.name != "keys"]
        return read_journal(folders[0] / FILE_NAME) if folders else Journal((), ())

    @property
    def nonces(self) -> list[str]:
        return [entry["nonce"] for entry in self.journal.entries if entry["event"] == "asked"]

    def has(self, event: str) -> bool:
        return any(entry["event"] == event for entry in self.journal.entries)

    def live_objects(self) -> list[object]:
        """What is there of everything that the ledger says was asked for."""
        found = [stored for nonce in self.nonces for stored in self.lab.google.objects_with(nonce)]
        return [stored for stored in found if stored.live]

    def dead_objects(self) -> list[object]:
        found = [stored for nonce in self.nonces for stored in self.lab.google.objects_with(nonce)]
        return [stored for stored in found if not stored.live]

    def foreign(self) -> str:
        """Everything in Google that carries no nonce of the ledger, byte for byte."""
        store, own = self.lab.google.store, self.nonces
        with store.lock:
            bodies = [item.body for each in store.calendars.values() for item in each.events.values()]
            bodies += [item.body for each in store.task_lists.values() for item in each.tasks]
            rows = [
                (book.id, tab.title, row)
                for book in store.spreadsheets.values()
                for tab in book.tabs
                for _, row in tab.formatted_rows()
                if any(row)
            ]
        texts = [json.dumps(body, sort_keys=True) for body in (*bodies, *rows)]
        return "\n".join(text for text in texts if not any(nonce in text for nonce in own))

    @contextmanager
    def run_until(self, moment: Callable[[], object], *arguments: object) -> Iterator[object]:
        """A butlerctl process at the moment when this is first true."""
        with self.shell.start(*arguments, environ=self.lab.environ()) as process:
            wait_for(lambda: moment() or process.poll() is not None)
            assert process.poll() is None, process.communicate()
            yield process

    def kill(self, moment: Callable[[], object], *arguments: object) -> None:
        with self.run_until(moment, *arguments) as process:
            process.send_signal(signal.SIGKILL)

    def run(self, *arguments: object):
        return self.shell.run(*arguments, environ=self.lab.environ())


@contextmanager
def crash_home(folder: Path) -> Iterator[CrashHome]:
    shell = Shell(folder)
    with Lab(load_inventory(shell.inventory, {})) as lab:
        home = CrashHome(shell, lab)
        home.plant_foreign_objects()
        yield home
        assert lab.google.own_faults == []


def wait_for(moment: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not moment():
        assert time.monotonic() < deadline, "the moment never came"
        time.sleep(0.005)


def _event() -> dict[str, object]:
    at = {"dateTime": "2026-12-14T12:00:00-05:00"}
    return {"summary": FOREIGN, "start": at, "end": {"dateTime": "2026-12-14T13:00:00-05:00"}}


def _post(url: str, token: str, path: str, body: object) -> None:
    import httpx

    answer = httpx.post(
        url + path, json=body, headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=10
    )
    assert answer.status_code == 200, answer.text
