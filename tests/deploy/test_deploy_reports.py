"""A signed report as the condition of a deployment, as the voucher of a snapshot, and as what drift is against."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.operations import Route
from butlerctl.report.keys import new_signer, public_path, save_key
from butlerctl.report.run import Part
from butlerctl.report.signing import write_report
from butlerctl.state import state_folder
from butlerctl.workflows.digest import canonical_digest
from tests.report.report_samples import broken_route, proven_route, run_of_routes

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")
PART = Part("of-one-machine", "ab" * 32, "cd" * 32)


@pytest.fixture
def report(home):
    """Writes a signed report about the exports as they are now; its public key lies beside it."""
    signer = new_signer()
    public = save_key(signer, home.folder / "signing.pem")
    inventory = load_inventory(home.folder / "inventory.yaml", home.environ)

    def write(signer=signer, **changes):
        from butlerctl.workflows.exports import rendered_exports

        exports = rendered_exports(inventory, inventory.routes)
        now = datetime.now(UTC)
        facts = {
            "target": home.front.url,
            "started": now - timedelta(minutes=2),
            "finished": now - timedelta(minutes=1),
            "inventory_digest": inventory.digest,
            "workflows": {route.workflow_name: canonical_digest(export) for route, export in exports.items()},
        }
        path = home.folder / "report.json"
        write_report(path, run_of_routes(*map(proven_route, inventory.routes), **(facts | changes)), signer)
        return ["--require-report", str(path), "--key", str(public)]

    return write


def test_a_matching_report_lets_a_deployment_through(home, report):
    home.renew()
    home.plan()
    assert home.apply(*report()).code == 0
    assert home.all_served() == {"v2"}


def test_a_joined_report_lets_a_deployment_through_as_any_other(home, report):
    home.renew()
    home.plan()
    assert home.apply(*report(parts=(PART,))).code == 0
    assert home.all_served() == {"v2"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "http://n8n.example.test"}, "not about http://127.0.0.1"),
        (
            {"started": datetime(2026, 1, 1, tzinfo=UTC), "finished": datetime(2026, 1, 1, tzinfo=UTC)},
            "stale",
        ),
        ({"workflows": {"calendar_add_wife": "ab" * 32}}, "was changed after the run"),
        ({"inventory_digest": "ab" * 32}, "the inventory is not the one of the run"),
    ],
)
def test_another_report_does_not(home, report, changes, reason):
    home.renew()
    home.plan()
    refused = home.apply(*report(**changes))
    assert refused.code == 78
    assert reason in refused.err
    assert home.front.writes == []


def test_a_report_of_another_key_or_without_a_trusted_key_does_not_either(home, report):
    home.renew()
    home.plan()
    option, path, _, _ = report()
    other = save_key(new_signer(), home.folder / "other.pem")
    assert home.apply(option, path, "--key", str(other)).code == 78
    assert home.apply(option, path).code == 2
    assert home.apply(option, str(public_path(home.folder / "signing.pem"))).code == 2


def test_a_run_that_wanted_a_report_wants_it_again_to_go_on(home, report):
    home.renew()
    home.plan()
    good = report()
    kill_at_first_write(home, *good)
    for options in ([], ["--require-report", str(home.folder / "nowhere.json"), *good[2:]]):
        assert home.run("apply", "--resume", *options).code == 78
    assert home.run("apply", "--resume", *report(workflows={"calendar_add_wife": "ab" * 32})).code == 78
    assert home.front.writes == []
    assert home.run("apply", "--resume", *report()).code == 0
    assert home.all_served() == {"v2"}


def test_the_way_back_wants_no_report(home, report):
    home.renew()
    home.plan()
    before = home.published()
    kill_at_first_write(home, *report())
    assert home.run("rollback").code == 0
    assert (home.published(), home.all_served()) == (before, {"v1"})


def kill_at_first_write(home, *options):
    child = None

    def kill(*_):
        child.kill()
        child.wait()

    home.front.before = kill
    child = home.start("apply", str(home.plan_file), "--yes", *options)
    child.communicate(timeout=60)
    assert child.returncode == -9
    home.front.reset()


def test_a_report_of_the_lab_counts_for_the_files_that_it_ran(home, report):
    """The lab has values of its own in the places of the household's."""
    from butlerctl.lab.plan import plan_lab

    home.renew()
    home.plan()
    inventory = load_inventory(home.folder / "inventory.yaml", home.environ)
    in_the_lab = {
        route.workflow_name: canonical_digest(document)
        for route, document in plan_lab(inventory).workflows.items()
    }
    assert home.apply(*report(lab=True, target="http://127.0.0.1:1")).code == 78
    assert home.apply(*report(lab=True, target="http://127.0.0.1:1", workflows=in_the_lab)).code == 0


def test_the_report_that_is_about_what_is_served_vouches_for_its_snapshot(home, report):
    key = report()[-2:]
    taken = home.run("snapshot", "--report", str(home.folder / "report.json"), *key, "--format", "json")
    assert taken.json["report"]["verdict"] == "PASS"
    (told,) = re.findall(r"report 01JDZ0-RUN of (.+), PASS", home.run("snapshot", "list").out)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", told)
    home.renew(ADD)
    assert home.deploy().code == 0
    again = home.run("snapshot", "--report", str(home.folder / "report.json"), *key, "--format", "json")
    assert again.json["report"] is None


def test_drift_is_against_the_last_report_too(home, report):
    named = ["--report", str(home.folder / "report.json"), *report()[-2:]]
    same = home.run("drift", *named)
    assert same.code == 0
    key = json.loads(home.run("drift", "--format", "json", *named).out)["report"]["key"]
    assert f"PASS, signed by the trusted key {key[:12]}, about 2 of 2 workflows" in same.out
    home.renew(ADD)
    assert home.deploy().code == 0
    assert home.run("drift").code == 0
    ran = home.run("drift", *named)
    assert ran.code == 1
    assert "calendar_add/husband  n8n serves something else than the last report was about" in ran.out


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "http://n8n.example.test"}, "the report is about http://n8n.example.test, not about"),
        ({"lab": True}, "the report is about the lab, not about"),
        ({"workflows": {"tasks_list_husband": "ab" * 32}}, "is about none of these workflows"),
        ({"signer": None}, "the report is unsigned"),
        ({"signer": new_signer()}, "signed by a key that is not trusted here"),
    ],
)
def test_a_report_that_cannot_speak_about_this_n8n_is_refused_by_drift(home, report, changes, reason):
    key = report(**changes)[-2:]
    ran = home.run("drift", "--report", str(home.folder / "report.json"), *key)
    assert (ran.code, ran.out) == (78, "")
    assert f"{home.folder}/report.json: " in ran.err
    assert reason in ran.err


def test_drift_takes_the_newest_pass_that_is_signed_and_about_this_n8n(home, report):
    """Newer ones that are unsigned, of another n8n, or about a failure say nothing."""
    kept = state_folder(home.folder / "inventory.yaml", home.state) / "reports"
    kept.mkdir(parents=True)

    def keep(name, hours, **changes):
        ended = datetime.now(UTC) - timedelta(hours=hours)
        key = report(started=ended - timedelta(minutes=1), finished=ended, **changes)[-2:]
        (home.folder / "report.json").rename(kept / name)
        return key

    failed = run_of_routes(*(broken_route(route) for route in home.routes)).routes
    keep("a.json", 1, signer=None)
    keep("b.json", 2, target="http://n8n.example.test")
    keep("c.json", 3, routes=failed)
    key = keep("d.json", 5, workflows={"calendar_add_husband": "ab" * 32})
    keep("e.json", 9)
    ran = home.run("drift", "--format", "json", *key)
    assert (ran.code, ran.json["report"]["file"]) == (1, str(kept / "d.json"))
    untrusted = home.run("drift")
    assert untrusted.code == 0
    assert (
        "no report: the state folder holds no PASS about this n8n that a trusted key signed" in untrusted.out
    )


def test_drift_takes_the_joined_report_before_the_parts_that_it_was_joined_of(home, report):
    kept = state_folder(home.folder / "inventory.yaml", home.state) / "reports"
    kept.mkdir(parents=True)
    now = datetime.now(UTC)
    one = {"workflows": {"calendar_add_husband": "ab" * 32}}
    for name, changes in {
        "a-part.json": {"started": now - timedelta(minutes=1), "finished": now, **one},
        "b-whole.json": {"started": now - timedelta(minutes=9), "finished": now, "parts": (PART,)},
        "c-part.json": {"started": now - timedelta(minutes=9), "finished": now - timedelta(minutes=5), **one},
    }.items():
        key = report(**changes)[-2:]
        (home.folder / "report.json").rename(kept / name)
    ran = home.run("drift", "--format", "json", *key)
    assert (ran.code, ran.json["report"]["file"]) == (0, str(kept / "b-whole.json"))
