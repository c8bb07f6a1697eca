"""What n8n, or something in front of it, answers in the middle of a deployment: refusals, lost and late answers."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from werkzeug.wrappers import Response

from butlerctl.deploy import interrupted, listening, wire
from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import node_of
from tests.deploy.n8n_proxy import no_answer, own_answer, refusal

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")


def test_n8n_that_is_not_there_or_not_n8n_is_told_before_anything_is_written(home):
    assert home.run("plan", N8N_URL="http://127.0.0.1:9").code == 75
    assert home.run("drift", N8N_URL=home.household.google_url).code == 75
    assert home.run("plan", N8N_API_KEY="wrong-key-entirely").code == 77


def test_a_key_that_may_not_write_ends_in_77_with_nothing_written(home):
    home.renew()
    key = home.n8n.create_api_key(("workflow:list", "workflow:read", "credential:list"))
    before = home.published()
    assert home.run("plan", "--out", str(home.plan_file), N8N_API_KEY=key).code == 1
    ran = home.run("apply", str(home.plan_file), "--yes", N8N_API_KEY=key)
    assert ran.code == 77
    assert "workflow:update" in ran.err
    assert home.published() == before
    assert home.run("apply", "--resume").code == 3


def test_the_very_first_refusal_is_n8ns_own_word(home):
    home.renew()
    home.plan()
    home.front.before = lambda *_: refusal("request/body must NOT have additional properties")
    ran = home.apply()
    assert ran.code == 78
    assert "request/body must NOT have additional properties" in ran.err


def test_an_n8n_that_lists_no_credentials_is_told_as_such_and_nothing_is_planned(home):
    home.n8n.rest.version = "1.123.81"
    for argv in (["plan"], ["snapshot"], ["drift"]):
        ran = home.run(*argv)
        assert (ran.code, ran.out) == (78, "")
        assert "this n8n has no GET /api/v1/credentials" in ran.err
        assert "n8n 1 lists no credentials" in ran.err
        assert "credential:list" not in ran.err


def gateway_json(status, message):
    return Response(f'{{"message":"{message}"}}', status, content_type="application/json; charset=utf-8")


@pytest.mark.parametrize(
    ("status", "message"),
    [(404, "Not Found"), (401, "Unauthorized"), (403, "Forbidden"), (502, "bad gateway")],
)
def test_a_gateways_json_is_no_empty_n8n_and_no_refused_key(home, status, message):
    """Read as a list without workflows it would be twelve to create, beside those that are there."""
    assert home.run("snapshot").code == 0
    home.front.reset()
    home.front.in_front = lambda: gateway_json(status, message)
    for argv in (["plan"], ["drift"], ["rollback", "--check"], ["rollback"]):
        ran = home.run(*argv)
        assert ran.code == 75, ran
        assert ran.out == ""
        assert "something other than n8n's API answered" in ran.err
    assert home.front.writes == []


def test_a_write_that_a_proxy_gave_up_on_is_waited_for_and_taken_back(home, monkeypatch):
    """The proxy's 504 closes nothing: n8n carries the update out a moment later."""
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(seconds=2))
    before = home.published()
    home.renew()
    home.plan()
    late = []

    def give_up(number, method, path):
        if number != 1:
            return None
        body = home.front.bodies[-1]
        late.append(threading.Timer(1.0, lambda: home.front.pass_on(method, path, body)))
        late[0].start()
        return gateway_json(504, "The upstream server is timing out")

    home.front.before = give_up
    ran = home.apply()
    late[0].join()
    assert ran.code == 1, ran
    assert ran.json["outcome"] == "failed, rolled back"
    assert "status 504" in ran.json["reason"]
    assert home.published() == before
    assert home.all_served() == {"v1"}


def test_a_creation_that_is_answered_with_a_strangers_workflow_leaves_the_stranger_alone(home):
    home.empty()
    home.plan()
    strangers = home.strangers()

    def answer_with_another(number, method, path):
        if number == 1:
            home.front.pass_on(method, path, home.front.bodies[-1])
        return own_answer(strangers[0]) if number == 1 else None

    home.front.before = answer_with_another
    ran = home.apply()
    assert ran.code == 1, ran
    assert "is not the workflow that was to be made" in ran.json["reason"]
    assert home.strangers() == strangers
    assert set(home.published().values()) == {None}, "what n8n made is known, and is not published"
    home.front.reset()
    assert home.deploy().code == 0, "and it is used"
    assert home.all_served() == {"v1"}


def test_a_proxy_that_lets_only_the_api_and_the_webhooks_through_is_enough(home):
    home.renew()
    home.plan()

    def hide():
        return None if home.front.requests[-1][1].startswith(("/api/", "/webhook/")) else no_answer

    home.front.in_front = hide
    assert home.apply().code == 0
    taken = home.run("snapshot", "--format", "json")
    assert (taken.code, taken.json["n8n"]) == (0, "")
    assert (
        home.run("rollback", "--to", home.run("snapshot", "list").out.splitlines()[-1].split()[0]).code == 0
    )
    assert home.all_served() == {"v1"}


def shorten_the_list(home):
    """What stands in front of n8n shows an old list, in which no workflow is."""
    nothing = own_answer({"data": [], "nextCursor": None})
    home.front.in_front = lambda: nothing if "/workflows?" in home.front.requests[-1][1] else None


def test_a_list_without_what_n8n_has_is_no_list(home):
    home.renew()
    assert home.deploy().code == 0
    shorten_the_list(home)
    for command in ("plan", "drift", "snapshot"):
        ran = home.run(command)
        assert ran.code == 75
        assert "n8n's list of workflows is not whole" in ran.err
    home.front.requests.clear()
    for command in (["rollback", "--check"], ["rollback"]):
        assert home.run(*command).code == 75
    assert home.front.writes == []
    home.front.reset()
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v1"}


def test_what_was_made_is_not_gone_because_a_list_does_not_show_it(home):
    home.empty()
    home.plan()
    home.front.after = lambda number, *_: shorten_the_list(home) if number == 4 else None
    ran = home.apply()
    assert ran.code == 4, ran
    assert {failure["route"] for failure in ran.json["left"]} == {str(ADD), str(WIFES)}
    home.front.reset()
    assert home.run("rollback").code == 0
    assert set(home.published().values()) == {None}


def test_n8n_that_goes_away_in_the_middle_leaves_a_run_that_can_be_taken_back(home):
    before = home.published()
    home.renew()
    home.plan()
    gone = []

    def go_away(number, *_):
        gone.extend([True] * (number == 1))

    home.front.after = go_away
    home.front.in_front = lambda: Response("<html>502 Bad Gateway</html>", 502) if gone else None
    ran = home.apply()
    assert ran.code == 4
    assert {failure["route"] for failure in ran.json["left"]} == {str(ADD), str(WIFES)}
    home.front.reset()
    assert home.plan().code == 1
    assert home.apply().code == 78
    assert home.run("rollback").code == 0
    assert home.published() == before
    assert home.all_served() == {"v1"}


def test_an_answer_that_is_lost_does_not_lose_the_step(home):
    before = home.published()
    home.renew()
    home.plan()
    home.front.lose = lambda number: number == 2
    ran = home.apply()
    assert ran.code == 1, ran.err
    assert home.published() == before
    assert {entry["status"] for entry in home.plan().json["entries"]} == {"publish"}


def test_a_webhook_that_does_not_answer_after_the_deployment_puts_the_set_back(home, monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    before = home.published()
    home.renew()
    home.edit(
        WIFES, lambda document: node_of(document, ".webhook")["parameters"].update(responseMode="lastNode")
    )
    ran = home.deploy()
    assert ran.code == 1
    assert (
        "POST L4CK3Y/calendar/add/wife without the key: 500, respond node and response mode do not fit"
        in ran.json["reason"]
    )
    assert home.published() == before
    assert home.all_served() == {"v1"}


def test_where_a_proxy_lets_no_get_through_a_plan_knows_nothing_and_apply_asks_otherwise(home, monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    monkeypatch.setattr(listening, "PATIENCE", 0.1)

    def refuse():
        method, path = home.front.requests[-1]
        blocked = method in methods and path.startswith("/webhook/")
        return Response("<html>no</html>", 405, content_type="text/html") if blocked else None

    methods = ["GET"]
    home.front.in_front = refuse
    planned = home.plan()
    assert planned.code == 0
    notes = {note for entry in planned.json["entries"] for note in entry["notes"]}
    assert "whether it answers is not known: GET L4CK3Y/calendar/add/wife: 405, page of HTML" in notes
    drift = home.run("drift")
    assert drift.code == 3
    assert drift.out.endswith("\n0 of 2 workflows drifted; of 2 it is not known whether they answer\n")
    assert home.apply().code == 0
    assert home.run("snapshot").code == 0
    methods += ["OPTIONS", "POST"]
    failed = home.apply()
    assert failed.code == 1
    assert "there is nothing to deploy, and not everything answers: calendar_add/husband: POST" in failed.err
    left = home.run("rollback")
    assert left.code == 4
    assert "NOT PUT BACK  calendar_add/wife: n8n publishes what it published then, and POST" in left.out
    assert home.front.writes == []


@pytest.fixture
def late(home, monkeypatch):
    """n8n 2.41 answers before it publishes, and answers the webhook for the old version until then."""
    home.n8n.rest.version = "2.41.1"
    home.n8n.workflows.lag = 0.3
    monkeypatch.setattr(wire, "QUIET", 0.4)
    return home


def test_an_n8n_that_publishes_late_is_judged_when_it_has(late):
    late.renew()
    assert late.deploy().code == 0
    assert late.all_served() == {"v2"}
    assert late.run("rollback").code == 0
    assert late.all_served() == {"v1"}


def test_a_version_that_does_not_answer_is_found_though_the_old_one_answered_for_it(late, monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    before = late.published()
    late.renew()
    last_node = {"responseMode": "lastNode"}
    late.edit(WIFES, lambda document: node_of(document, ".webhook")["parameters"].update(last_node))
    failed = late.deploy()
    assert failed.code == 1
    assert "respond node and response mode do not fit" in failed.json["reason"]
    assert late.published() == before
