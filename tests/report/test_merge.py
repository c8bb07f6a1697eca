"""Several reports of one verification joined: what belongs together is one report, what does not is refused by name."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from report_samples import (
    ROUTES,
    STARTED,
    WORKFLOWS,
    broken_route,
    proven_route,
    run_of_routes,
    unproven_route,
)

from butlerctl.cli.app import run as butlerctl
from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.operations import Route
from butlerctl.report.keys import load_signer, new_signer, save_key
from butlerctl.report.run import CheckResult, Leftover, Outcome, Skipped
from butlerctl.report.signing import read_report, sign, write_report
from butlerctl.report.statement import run_of

HOUSE = Path(__file__).parents[2]
INVENTORY = HOUSE / "inventory.yaml"


STRANGER = Route("calendar_add", "grandma")


def workflows_of(routes):
    return {route.workflow_name: WORKFLOWS[f"{route.operation}_{route.profile}"] for route in routes}


class Desk:
    """A folder with signed parts, and the command over them."""

    def __init__(self, folder, capsys):
        self.folder, self._capsys = folder, capsys
        self.key = folder / "signing.pem"
        save_key(new_signer(), self.key)
        self.digest = load_inventory(INVENTORY, {}).digest

    def part(self, name, results, *, signer=None, **changes):
        named = changes.get("workflows")
        workflows = workflows_of(result.route for result in results) if named is None else named
        changes = {"inventory_digest": self.digest, "id": name} | changes | {"workflows": workflows}
        path = self.folder / f"{name}.json"
        write_report(path, run_of_routes(*results, **changes), signer or load_signer(self.key))
        return path

    def thirds(self):
        return [self.part(f"part-{at}", map_proven(ROUTES[4 * at : 4 * at + 4])) for at in range(3)]

    def merge(self, *files, options=()):
        code = butlerctl(
            ["report", "merge", *map(str, files), "--key", f"{self.key}.pub", "--inventory", str(INVENTORY),
             "--report", str(self.folder / "whole.json"), "--sign", str(self.key), *options]
        )  # fmt: skip
        said = self._capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        return code, said.out, said.err

    @property
    def whole(self):
        return run_of(read_report(self.folder / "whole.json").payload)

    @property
    def is_written(self):
        return (self.folder / "whole.json").exists()


def map_proven(routes):
    return [proven_route(route) for route in routes]


@pytest.fixture
def desk(tmp_path, capsys):
    return Desk(tmp_path, capsys)


def test_parts_become_one_report_that_is_believed_like_any_other(desk, capsys):
    parts = desk.thirds()
    code, out, err = desk.merge(*reversed(parts))
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [
        "PASS: 108 of 108 links proven on 12 routes",
        "joined of 3 reports: part-2, part-1, part-0",
    ]
    whole = desk.whole
    assert [result.route for result in whole.routes] == list(load_inventory(INVENTORY, {}).routes)
    assert len(whole.workflows) == 12
    assert whole.nonce == "BTLR-7Q2M4X9KPA"
    age = ["--max-age", "36500d"]
    wanted = ["report", "verify", str(desk.folder / "whole.json"), "--key", f"{desk.key}.pub", *age]
    assert butlerctl(wanted) == 0
    assert capsys.readouterr().out.startswith("accepted: PASS: 108 of 108 links proven on 12 routes\n")


def test_each_part_stands_in_it_by_the_digest_of_its_file(desk):
    parts = desk.thirds()
    desk.merge(*parts)
    assert [(part.id, part.sha256) for part in desk.whole.parts] == [
        (path.stem, sha256(path.read_bytes()).hexdigest()) for path in parts
    ]
    assert {part.key_id for part in desk.whole.parts} == {read_report(parts[0]).key_id}


def test_it_began_with_the_first_part_and_ended_with_the_last(desk):
    hour = timedelta(hours=1)
    late = desk.part("late", map_proven(ROUTES[:6]), started=STARTED + hour, finished=STARTED + 2 * hour)
    early = desk.part("early", map_proven(ROUTES[6:]), started=STARTED, finished=STARTED + hour)
    desk.merge(late, early)
    assert (desk.whole.started, desk.whole.finished) == (STARTED, STARTED + 2 * hour)


def test_the_verdict_is_that_of_the_worst_part(desk):
    good = desk.part("good", map_proven(ROUTES[:6]))
    bad = desk.part("bad", [broken_route(ROUTES[6]), *map_proven(ROUTES[7:])])
    code, out, _ = desk.merge(good, bad)
    assert code == 1
    assert out.startswith(f"FAIL: {ROUTES[6]} is broken at active (active.seen)\n")
    open_ = desk.part("open", [unproven_route(ROUTES[6]), *map_proven(ROUTES[7:])])
    assert desk.merge(good, open_)[0] == 3


def test_what_was_left_behind_or_not_run_is_told_once(desk):
    pin, skipped = (
        CheckResult("pin.n8n", Outcome.PASSED, "2.30.8"),
        Skipped("active.settings", "not returned"),
    )
    left = Leftover(ROUTES[6], "task", "Household", "abc", "it was changed by somebody")
    common = {"checks": (pin,), "skipped": (skipped,)}
    one = desk.part("one", map_proven(ROUTES[:6]), **common)
    other = desk.part("other", map_proven(ROUTES[6:]), leftovers=(left,), **common)
    code, _, _ = desk.merge(one, other)
    assert code == 4
    assert (desk.whole.checks, desk.whole.skipped, desk.whole.leftovers) == ((pin,), (skipped,), (left,))


def spoilt_parts():
    half, rest = map_proven(ROUTES[:6]), map_proven(ROUTES[6:])
    eleventh = f"{ROUTES[6].operation}_{ROUTES[6].profile}"
    before = STARTED - timedelta(seconds=1)
    return {
        "a part is missing": (half, rest[:4], {}, f"no part is about {ROUTES[10]}, {ROUTES[11]}"),
        "most are missing": (half[:2], rest[:1], {}, "and 4 more"),
        "a route is there twice": (half, [*half[:1], *rest], {}, f"{ROUTES[0]} is in"),
        "another n8n": (half, rest, {"target": "https://other.example.test"}, "is about https://other.example.test"),
        "the lab": (half, rest, {"lab": True}, "n8n.example.test (the lab, not a household), "),
        "another challenge": (half, rest, {"nonce": "of-last-month"}, "give each part the same --nonce"),
        "another inventory": (half, rest, {"inventory_digest": "00" * 32}, "was made with another inventory"),
        "another version": (half, rest, {"versions": {"n8n": "2.41.1"}}, "saw n8n 2.30.8"),
        "another workflow": (
            half, rest, {"workflows": {"calendar_list_husband": "ff" * 32, eleventh: "11" * 32}}, "as ffffffffffff",
        ),
        "a longer version": (
            half, rest, {"versions": {"openclaw": "2026.6.11-beta.2"}}, "saw openclaw 2026.6.11-beta.2",
        ),
        "no workflow": (half, rest, {"workflows": {}}, f"proves {ROUTES[6]} and does not say of which workflow"),
        "an end before the beginning": (half, rest, {"finished": before}, "other.json ended before it began"),
        "another person": (
            half, [*rest, broken_route(STRANGER)], {"workflows": workflows_of(ROUTES[6:])},
            f"other.json is about {STRANGER}, which is not in the inventory",
        ),
        "a cut plan": (half, rest, {"plan_digest": "12" * 32}, "does not hold the routes that it was to prove"),
    }  # fmt: skip


@pytest.mark.parametrize("case", spoilt_parts())
def test_what_is_not_one_verification_is_refused_and_nothing_is_written(desk, case):
    half, rest, changes, words = spoilt_parts()[case]
    one, other = desk.part("one", half), desk.part("other", rest, **changes)
    code, out, _ = desk.merge(one, other)
    assert code == 1
    assert [line for line in out.splitlines() if not line.startswith("refused: ")] == []
    assert words in out
    assert not desk.is_written
    code, out, _ = desk.merge(one, other, options=["--format", "json"])
    assert (code, any(words in text for text in json.loads(out)["refusals"])) == (1, True)


def test_a_part_that_nobody_trusted_signed_or_that_was_changed_is_refused(desk):
    half = desk.part("half", map_proven(ROUTES[:6]))
    strange = desk.part("strange", map_proven(ROUTES[6:]), signer=new_signer())
    code, out, _ = desk.merge(half, strange)
    assert code == 1
    assert out.startswith(f"refused: {strange}: the report is signed by a key that is not trusted here: ")
    rest = desk.part("rest", map_proven(ROUTES[6:]))
    document = json.loads(rest.read_text())
    other = json.loads(half.read_text())["dsseEnvelope"]["payload"]
    document["dsseEnvelope"]["payload"] = other
    rest.write_text(json.dumps(document))
    code, out, _ = desk.merge(strange, rest, options=["--format", "json"])
    first, second = json.loads(out)["refusals"]
    assert (code, first.startswith(f"{strange}: "), second.startswith(f"{rest}: ")) == (1, True, True)
    assert "the signature does not fit" in second
    assert not desk.is_written


def forged(desk, name, results, change):
    """Signed with a trusted key, and made by hand."""
    path = desk.part(name, results)
    statement = json.loads(read_report(path).payload)
    change(statement["predicate"]["butlerctl"])
    path.write_text(json.dumps(sign(json.dumps(statement).encode(), load_signer(desk.key))))
    return path


def test_a_route_that_is_twice_in_one_part_is_refused_whatever_the_second_says(desk):
    half = desk.part("half", map_proven(ROUTES[:6]))
    twice = desk.part("twice", [broken_route(ROUTES[6]), *map_proven(ROUTES[6:])])
    code, out, _ = desk.merge(half, twice)
    assert (code, out) == (1, f"refused: {twice}: invalid report: a route is there twice\n")
    assert not desk.is_written


@pytest.mark.parametrize("kind", ["the same name", "a link", "a copy"])
def test_one_report_given_twice_is_refused(desk, kind):
    half, rest = desk.part("half", map_proven(ROUTES[:6])), desk.part("rest", map_proven(ROUTES[6:]))
    again = half if kind == "the same name" else desk.folder / "again.json"
    if kind == "a link":
        again.symlink_to(half)
    elif kind == "a copy":
        again.write_bytes(half.read_bytes())
    code, out, _ = desk.merge(half, again, rest)
    assert (code, out) == (1, f"refused: {again} is the same report as {half}\n")
    assert not desk.is_written


@pytest.mark.parametrize(
    ("nonce", "told"),
    [
        ("", "is empty"),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl",
            "is masked, because it looks like a secret",
        ),
    ],
)
def test_a_challenge_that_looks_the_same_in_every_run_ties_nothing(desk, nonce, told):
    half = desk.part("half", map_proven(ROUTES[:6]), nonce=nonce)
    rest = desk.part("rest", map_proven(ROUTES[6:]), nonce=nonce)
    code, out, _ = desk.merge(half, rest)
    assert (code, f"refused: the challenge of {half} {told}: give each part the same --nonce" in out) == (
        1,
        True,
    )
    assert not desk.is_written


def test_a_slash_at_its_end_makes_no_other_n8n(desk):
    half = desk.part("half", map_proven(ROUTES[:6]), target="https://n8n.example.test/")
    assert desk.merge(half, desk.part("rest", map_proven(ROUTES[6:])))[0] == 0


def test_what_a_part_says_never_steers_the_terminal(desk, capsys):
    def evil(own):
        own["target"] = "https://n8n\x1b[2J.example.test\naccepted: PASS"
        own["versions"] = {"n8n": "\x1b[31m\ud800\u202e"}

    half, rest = desk.part("half", map_proven(ROUTES[:6])), forged(desk, "rest", map_proven(ROUTES[6:]), evil)
    code, out, _ = desk.merge(half, rest)
    assert code == 1
    whole = forged(desk, "whole", map_proven(ROUTES), lambda own: evil(own) or own.update(id="a\x1bb\nc"))
    for command in (["verify", "--key", f"{desk.key}.pub", "--max-age", "36500d"], ["diff", str(half)]):
        butlerctl(["report", *command, str(whole)])
        out += capsys.readouterr().out
    out += desk.merge(whole, options=["--report", str(desk.folder / "again.json")])[1]
    assert [line for line in out.splitlines() if line.startswith("accepted")] == [
        "accepted: PASS: 108 of 108 links proven on 12 routes"
    ]
    assert "joined of 1 report: a\\x1bb\\nc\n" in out
    assert all(each.isprintable() for each in out.replace("\n", ""))


def test_a_part_that_contradicts_itself_is_refused(desk):
    bad = desk.part("bad", [broken_route(ROUTES[6]), *map_proven(ROUTES[7:])])
    statement = json.loads(read_report(bad).payload)
    statement["predicate"]["butlerctl"]["verdict"] = "PASS"
    bad.write_text(json.dumps(sign(json.dumps(statement).encode(), load_signer(desk.key))))
    code, out, _ = desk.merge(desk.part("half", map_proven(ROUTES[:6])), bad)
    assert (code, "contradicts itself: verdict" in out) == (1, True)


def test_a_part_is_not_written_over(desk):
    parts = desk.thirds()
    before = parts[0].read_bytes()
    code, _, err = desk.merge(*parts, options=["--report", str(parts[0])])
    assert (code, "is one of the parts" in err) == (2, True)
    assert parts[0].read_bytes() == before


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_part_is_not_written_over_under_another_name(desk, link):
    parts = desk.thirds()
    other = desk.folder / "other.json"
    link(other, parts[0])
    code, _, err = desk.merge(*parts, options=["--report", str(other)])
    assert (code, "is one of the parts" in err) == (2, True)


def test_a_name_that_leads_to_itself_is_no_error_of_butlerctl(desk):
    one, other = desk.folder / "one", desk.folder / "two"
    one.symlink_to(other)
    other.symlink_to(one)
    parts = desk.thirds()
    code, _, err = desk.merge(*parts, one)
    assert (code, f"{one}: cannot be read: " in err) == (78, True)
    assert desk.merge(*parts, options=["--report", str(one)])[0] == 0
    assert one.is_file()


def test_what_is_no_ordinary_file_is_not_replaced(desk):
    pipe = desk.folder / "pipe"
    os.mkfifo(pipe)
    code, _, err = desk.merge(*desk.thirds(), options=["--report", str(pipe)])
    assert (code, f"{pipe}: cannot be written: it is no ordinary file" in err) == (78, True)
    assert pipe.is_fifo()


def test_a_link_to_nowhere_is_left_alone_when_the_key_is_none(desk):
    link = desk.folder / "latest.json"
    link.symlink_to(desk.folder / "nowhere.json")
    parts = desk.thirds()
    before = sorted(desk.folder.iterdir())
    options = ["--report", str(link), "--sign", str(desk.folder / "none.pem")]
    assert desk.merge(*parts, options=options)[0] == 78
    assert sorted(desk.folder.iterdir()) == before
    assert (
        desk.merge(*parts, options=["--report", str(desk.folder / "new" / "a.json"), *options[2:]])[0] == 78
    )
    assert sorted(desk.folder.iterdir()) == before


def test_a_file_without_end_is_no_report(desk):
    code, _, err = desk.merge(Path("/dev/zero"))
    assert (code, "/dev/zero: longer than 64 MiB: that is no report" in err) == (78, True)


def test_without_a_key_that_is_trusted_nothing_is_joined(desk, capsys):
    code = butlerctl(["report", "merge", *map(str, desk.thirds()), "--inventory", str(INVENTORY)])
    assert (code, "needs --key" in capsys.readouterr().err) == (2, True)


def test_a_missing_file_is_bad_input(desk):
    code, _, err = desk.merge(desk.folder / "nowhere.json")
    assert (code, "nowhere.json: cannot be read" in err) == (78, True)


def test_a_joined_report_may_be_joined_again_only_as_a_whole(desk):
    parts = desk.thirds()
    desk.merge(*parts)
    whole = desk.folder / "whole.json"
    code, out, _ = desk.merge(whole, options=["--report", str(desk.folder / "again.json")])
    assert (code, out.splitlines()[1].startswith("joined of 1 report: ")) == (0, True)
    code, out, _ = desk.merge(whole, parts[0], options=["--report", str(desk.folder / "more.json")])
    assert (code, f"{ROUTES[0]} is in" in out) == (1, True)


@pytest.mark.parametrize("look", ["text", "html"])
def test_a_joined_report_says_of_what_it_was_joined(desk, capsys, look):
    desk.merge(*desk.thirds())
    assert butlerctl(["report", "show", str(desk.folder / "whole.json"), "--format", look]) == 0
    assert "3 reports: part-0, part-1, part-2" in capsys.readouterr().out


def test_a_run_of_its_own_has_no_parts(desk):
    path = desk.part("alone", map_proven(ROUTES))
    payload = json.loads(read_report(path).payload)
    assert "parts" not in payload["predicate"]["butlerctl"]
    assert run_of(read_report(path).payload).parts == ()
