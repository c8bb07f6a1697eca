"""Leftovers of interrupted runs: what sweep removes, what it leaves, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from google_home import HUSBAND, NONCE, START, WIFE, WINDOW, at

from butlerctl.checks.cleanup import clean
from butlerctl.checks.sweep import strangers, sweep
from butlerctl.cli.app import run
from butlerctl.errors import ExitCode
from butlerctl.google.household import systems_of_record
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.google import DROP, READ_SCOPES, WRITE_SCOPES, Fault, refuse
from butlerctl.ledger import FILE_NAME, Ledger, read_journal
from butlerctl.state import state_folder

INVENTORY = """
version: 1
timezone: America/New_York
gateway: {kind: openclaw, url: "${NOT_NEEDED}", token: "${NOT_NEEDED}", agent: butler}
n8n: {url: "${NOT_NEEDED}", webhook: {prefix: L4CK3Y, header: X-L4CK3Y-Auth, secret: "${NOT_NEEDED}"}}
google: {url: "${GOOGLE_URL}"}
workflows: {directory: workflows, placeholders: {}}
operations: [calendar_list, calendar_add, tasks_list, tasks_add, sheets_read, sheets_append]
profiles:
"""
PROFILE = """
  {name}:
    google_token: ${{TOKEN_{name}}}
    calendar: {user}
    task_lists: {{Household: list-{user}, Garden: garden-{user}}}
    spreadsheet:
      id: sheet-{user}
      columns: [date, item, amount]
      tabs: [Log, butler verify]
      verify_tab: butler verify
"""


@pytest.fixture
def systems(home):
    made = {}
    for user in (WIFE, HUSBAND):
        for domain in ("calendar", "tasks", "sheets"):
            system = getattr(home, domain)(user)
            made[domain, system.profile] = system
    return made


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path) as opened:
        yield opened


def live(home, text="BTLR-"):
    return sorted((item.kind, item.container) for item in home.emulator.objects_with(text) if item.live)


def test_every_kind_of_leftover_is_removed_and_nothing_else(home, systems, ledger, asked):
    others = ["Private", "Groceries", "milk"]
    home.add_event(others[0])
    home.add_task(others[1])
    home.add_row("2026-12-01", others[2], 3)
    nonces = {"calendar": "BTLR-AAAAAAAAAA", "tasks": "BTLR-BBBBBBBBBB", "sheets": "BTLR-CCCCCCCCCC"}
    for domain, nonce in nonces.items():
        ledger.asked(asked(domain, nonce=nonce))
    home.add_event(f"butler check {nonces['calendar']}")
    home.add_task(f"butler check {nonces['tasks']}")
    home.add_row(*(f"{nonces['sheets']}-{letter}" for letter in "abc"))
    result = sweep(ledger, systems)
    assert result.exit_code is ExitCode.PROVEN
    assert [(item.nonce, item.gone, len(item.removed)) for item in result.cleanups] == [
        (nonce, True, 1) for nonce in nonces.values()
    ]
    assert live(home) == []
    assert [len(live(home, text)) for text in others] == [1, 1, 1]
    events = [entry["event"] for entry in ledger.journal().entries]
    assert events == ["asked"] * 3 + ["deleting", "gone"] * 3


def test_a_run_that_was_killed_before_anything_was_made_leaves_nothing_to_do(home, systems, ledger, asked):
    ledger.asked(asked())
    result = sweep(ledger, systems)
    assert [(item.gone, item.removed) for item in result.cleanups] == [(True, ())]
    assert "calendar.events.delete" not in home.methods()


def test_an_object_that_came_late_is_removed_within_a_day(home, systems, ledger, asked):
    ledger.asked(asked())
    sweep(ledger, systems)
    home.add_event(NONCE)
    assert len(sweep(ledger, systems).cleanups[0].removed) == 1
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    assert sweep(ledger, systems, now=tomorrow).cleanups == ()


def test_a_second_sweep_adds_no_line_to_the_ledger(home, systems, ledger, asked):
    ledger.asked(asked())
    sweep(ledger, systems)
    before = ledger.path.stat().st_size
    sweep(ledger, systems)
    assert ledger.path.stat().st_size == before


def test_a_leftover_in_the_other_persons_places_is_removed_with_that_persons_credential(
    home, systems, ledger, asked
):
    ledger.asked(asked("tasks"))
    home.add_task(NONCE, user=HUSBAND)
    (cleanup,) = sweep(ledger, systems).cleanups
    assert [hit.profile for hit in cleanup.removed] == ["husband"]
    assert [entry.user for entry in home.emulator.log if entry.verb == "DELETE"] == [HUSBAND]


def test_what_the_guards_refuse_stays_and_is_told_with_id_and_link(home, systems, ledger, asked):
    ledger.asked(asked())
    event = home.add_event(NONCE, attendees=[{"email": "guest@example.test"}])
    result = sweep(ledger, systems)
    assert result.exit_code is ExitCode.LEFTOVER
    (refused,) = result.cleanups[0].refused
    assert (refused.hit.object_id, refused.hit.link) == (event["id"], event["htmlLink"])
    assert refused.reasons == ("it has attendees",)
    assert live(home) == [("event", WIFE)]
    assert ledger.journal().entries[-1]["event"] == "refused"


def test_more_than_three_objects_with_one_nonce_are_left_unless_asked_for(home, systems, ledger, asked):
    ledger.asked(asked())
    for _ in range(4):
        home.add_event(NONCE)
    result = sweep(ledger, systems)
    assert (result.exit_code, len(result.cleanups[0].refused)) == (ExitCode.LEFTOVER, 4)
    assert len(live(home)) == 4
    assert sweep(ledger, systems, many=True).exit_code is ExitCode.PROVEN
    assert live(home) == []


def test_three_copies_are_removed(home, systems, ledger, asked):
    ledger.asked(asked())
    for _ in range(3):
        home.add_event(NONCE)
    assert len(sweep(ledger, systems).cleanups[0].removed) == 3


def test_a_leftover_on_a_wrong_day_within_a_year_is_found(home, systems, ledger, asked):
    ledger.asked(asked())
    off = START + timedelta(days=200)
    home.add_event(NONCE, start=at(off), end=at(off))
    assert len(sweep(ledger, systems).cleanups[0].removed) == 1


def test_an_all_day_leftover_is_removed(home, systems, ledger, asked):
    ledger.asked(asked())
    home.add_event(NONCE, start={"date": "2026-12-14"}, end={"date": "2026-12-15"})
    assert len(sweep(ledger, systems).cleanups[0].removed) == 1


def test_cells_without_the_nonce_make_a_leftover_though_the_nonce_is_gone(home, systems, ledger, asked):
    ledger.asked(asked("sheets"))
    home.add_row(f"{NONCE}-a", "3.10")
    result = sweep(ledger, systems)
    (cleanup,) = result.cleanups
    assert (cleanup.gone, result.exit_code) == (True, ExitCode.LEFTOVER)
    assert "without the nonce: 3.1" in cleanup.refused[0].reasons[0]


def test_a_credential_that_may_only_read_reports_what_it_would_remove(home, ledger, asked):
    ledger.asked(asked())
    home.add_event(NONCE)
    result = sweep(ledger, {("calendar", "wife"): home.calendar(scopes=READ_SCOPES)})
    assert result.exit_code is ExitCode.LEFTOVER
    assert "may only read" in result.cleanups[0].refused[0].reasons[0]


def test_a_sweep_that_cannot_look_concludes_nothing(home, systems, ledger, asked):
    ledger.asked(asked())
    home.add_event(NONCE)
    home.emulator.faults.plant(refuse("calendar.events.list", 503, "backendError", user=HUSBAND))
    result = sweep(ledger, systems)
    assert result.exit_code is ExitCode.TRY_AGAIN
    assert (result.cleanups[0].gone, result.cleanups[0].removed) == (False, ())
    assert [entry["event"] for entry in ledger.journal().entries] == ["asked"]


def test_what_cannot_be_looked_at_after_the_delete_is_not_called_removed(home, systems, ledger, asked):
    ledger.asked(asked())
    home.add_event(NONCE)
    system = systems["calendar", "wife"]

    def break_lists(body):
        home.emulator.faults.plant(refuse("calendar.events.list", 503, "backendError"))
        return body

    home.emulator.faults.plant(Fault("calendar.events.delete", rewrite=break_lists, times=1))
    cleanup = clean(asked(), [system], ledger)
    assert (cleanup.removed, cleanup.gone, cleanup.exit_code) == ((), False, ExitCode.TRY_AGAIN)
    assert [entry["event"] for entry in ledger.journal().entries] == ["asked", "deleting"]


def test_a_delete_that_fails_is_tried_again_by_the_next_sweep(home, systems, ledger, asked):
    ledger.asked(asked())
    home.add_event(NONCE)
    home.emulator.faults.plant(refuse("calendar.events.delete", 503, "backendError", times=1))
    assert sweep(ledger, systems).exit_code is ExitCode.TRY_AGAIN
    assert sweep(ledger, systems).exit_code is ExitCode.PROVEN
    assert live(home) == []


@pytest.mark.parametrize("answer", [DROP, None])
def test_a_delete_that_worked_is_a_success_whatever_was_answered(home, systems, ledger, asked, answer):
    ledger.asked(asked())
    home.add_event(NONCE)
    fault = refuse("calendar.events.delete", 500, "backendError", times=1)
    fault.work, fault.answer = 1, answer or fault.answer
    home.emulator.faults.plant(fault)
    assert sweep(ledger, systems).exit_code is ExitCode.PROVEN


def test_a_delete_that_only_claims_to_have_worked_leaves_an_object_that_is_told(home, systems, ledger, asked):
    ledger.asked(asked())
    home.add_event(NONCE)
    home.emulator.faults.plant(Fault("calendar.events.delete", forget=True))
    result = sweep(ledger, systems)
    assert result.exit_code is ExitCode.LEFTOVER
    assert result.cleanups[0].refused[0].reasons == ("it is still there after the delete",)


def test_the_ledger_announces_a_delete_before_it_is_sent(home, systems, ledger, asked):
    ledger.asked(asked())
    event = home.add_event(NONCE)
    seen = []

    def look(body):
        seen.extend(entry["event"] for entry in read_journal(ledger.path).entries)
        return body

    home.emulator.faults.plant(Fault("calendar.events.delete", rewrite=look))
    clean(asked(), [systems["calendar", "wife"]], ledger)
    assert seen == ["asked", "deleting"]
    assert ledger.journal().entries[1]["id"] == event["id"]
    assert ledger.journal().entries[1]["etag"] == event["etag"]


def test_somebody_who_left_the_inventory_is_told(home, systems, ledger, asked):
    ledger.asked(asked(profile="grandmother"))
    result = sweep(ledger, systems)
    assert result.exit_code is ExitCode.LEFTOVER
    assert "grandmother" in result.cleanups[0].problem.message


def test_a_nonce_that_no_ledger_knows_is_reported_and_not_touched(home, systems):
    home.add_event(NONCE)
    home.add_row(f"{NONCE}-a", tab="Log")
    result = strangers(systems, START)
    assert result.exit_code is ExitCode.LEFTOVER
    assert sorted(hit.domain for hit in result.strangers) == ["calendar", "sheets"]
    assert len(live(home)) == 2


def test_the_household_is_read_from_its_inventory(home, inventory):
    home.add_event(NONCE, user=HUSBAND)
    with systems_of_record(load_inventory(inventory, os.environ), patience=0) as made:
        assert sorted(made) == [
            (domain, name) for domain in ("calendar", "sheets", "tasks") for name in ("husband", "wife")
        ]
        assert len(made["calendar", "husband"].find(NONCE, WINDOW, when="after").hits) == 1
        assert made["tasks", "wife"].container == f"list-{WIFE}"


@pytest.fixture
def inventory(home, tmp_path, monkeypatch):
    """A file like the shipped one; the tokens and the address come from the environment."""
    monkeypatch.setenv("GOOGLE_URL", home.url)
    text = INVENTORY
    for user in (WIFE, HUSBAND):
        name = user.partition("@")[0]
        grant = home.emulator.grant(user, scopes=WRITE_SCOPES)
        monkeypatch.setenv(f"TOKEN_{name}", grant.authorized_user())
        text += PROFILE.format(name=name, user=user)
    path = tmp_path / "inventory.yaml"
    path.write_text(text)
    return path


def command(inventory, tmp_path, *more):
    return ["sweep", "--inventory", str(inventory), "--state-dir", str(tmp_path / "state"), *more]


def test_the_command_removes_a_leftover_and_tells_it(home, inventory, tmp_path, asked, capsys):
    home.add_event(NONCE)
    with Ledger(state_folder(inventory, tmp_path / "state")) as ledger:
        ledger.asked(asked())
    assert run(command(inventory, tmp_path)) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"deleted  {NONCE} calendar of wife, ")
    assert out[-1] == "1 looked for, 1 deleted, 0 remain"
    assert live(home) == []
    assert run(command(inventory, tmp_path)) == 0


def test_the_command_says_what_remains_and_exits_4(home, inventory, tmp_path, asked, capsys):
    home.add_event(NONCE, attendees=[{"email": "guest@example.test"}])
    with Ledger(state_folder(inventory, tmp_path / "state")) as ledger:
        ledger.asked(asked())
    assert run(command(inventory, tmp_path, "--format", "json")) == 4
    document = json.loads(capsys.readouterr().out)
    (cleanup,) = document["cleanups"]
    assert cleanup["remains"][0]["reasons"] == ["it has attendees"]
    assert cleanup["remains"][0]["link"].startswith("https://")


def test_the_command_without_a_ledger_only_reports(home, inventory, tmp_path, capsys):
    home.add_event(NONCE)
    assert run(command(inventory, tmp_path)) == 4
    streams = capsys.readouterr()
    assert "no ledger" in streams.err
    assert "no ledger knows it" in streams.out
    assert len(live(home)) == 1


def test_the_command_names_a_damaged_ledger(home, inventory, tmp_path, asked, capsys):
    folder = state_folder(inventory, tmp_path / "state")
    with Ledger(folder) as ledger:
        ledger.asked(asked())
        ledger.gone(NONCE)
    path = folder / FILE_NAME
    path.write_bytes(path.read_bytes().replace(b"wife@", b"wive@"))
    assert run(command(inventory, tmp_path)) == 4
    assert "damaged in line 1" in capsys.readouterr().out


def test_the_command_gives_way_to_a_run_in_progress(home, inventory, tmp_path, capsys):
    with Ledger(state_folder(inventory, tmp_path / "state")):
        assert run(command(inventory, tmp_path)) == 75
    assert "another run of butlerctl" in capsys.readouterr().err


def test_the_command_explains_a_dead_token_without_showing_it(
    home, inventory, tmp_path, asked, monkeypatch, capsys
):
    grant = home.emulator.grant(WIFE)
    home.emulator.revoke(grant)
    monkeypatch.setenv("TOKEN_wife", grant.authorized_user())
    with Ledger(state_folder(inventory, tmp_path / "state")) as ledger:
        ledger.asked(asked())
    assert run(command(inventory, tmp_path)) == 77
    streams = capsys.readouterr()
    assert "invalid_grant" in streams.out
    assert "7 days" in streams.out
    assert streams.out.endswith("1 looked for, 0 deleted, 0 remain, 1 unknown\n")
    assert grant.refresh_token not in streams.out + streams.err


def test_the_command_starts_as_a_process_of_its_own(home, inventory, tmp_path, asked):
    home.add_task(NONCE)
    with Ledger(state_folder(inventory, tmp_path / "state")) as ledger:
        ledger.asked(asked("tasks"))
    done = subprocess.run(
        [sys.executable, "-m", "butlerctl", *command(inventory, tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("1 looked for, 1 deleted, 0 remain\n")
