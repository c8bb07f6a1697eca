"""Nothing is made for the shipped household alone, and nothing but loopback is ever contacted."""

from __future__ import annotations

import pytest

from tests.lab.other_household import PEOPLE, write_household
from tests.lab.shell import ROOT, Shell

# Runs before everything else of the process and writes down whom it speaks to or looks up.
AUDIT = """
import os, sys
def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open(os.environ["AUDIT_FILE"], "a") as out:
            address = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0]
            print(address[0] if isinstance(address, tuple) else address, file=out)
sys.addaudithook(note)
"""
DEAD_PROXY = "http://127.0.0.1:9"


@pytest.fixture
def three(tmp_path):
    return Shell(tmp_path, write_household(tmp_path / "casa"))


def test_three_people_with_other_names_places_and_prefix_are_proven(three):
    ended = three.run("verify", "--lab", "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    routes = ended.document["routes"]
    assert {route["profile"] for route in routes} == {person.name for person in PEOPLE}
    assert [set(route["links"].values()) for route in routes] == [{"proven"}] * 18


def test_the_same_household_is_proven_from_another_process(three):
    with three.lab() as environ:
        assert set(environ) >= {
            "CASA_GATEWAY",
            "CASA_N8N",
            "CASA_GOOGLE",
            "CASA_SECRET",
            "TOKEN_OF_ANNA_MARIE",
        }
        ended = three.run("verify", "--only", "*/anna-marie,calendar_add/kid", environ=environ)
    assert ended.code == 0
    assert ended.out.startswith("PASS: 63 of 63 links proven on 7 routes")


def test_a_fault_on_a_route_of_another_household_is_named_there(three):
    ended = three.run("verify", "--lab", "--only", "tasks_add", "--fault", "route@tasks_add/Bob_2")
    assert ended.code == 1
    assert "tasks_add/Bob_2 is broken at route" in ended.out
    assert "nothing was left behind in Google" in ended.out


def test_an_inventory_with_written_out_addresses_still_works_with_the_lab(tmp_path):
    inventory = write_household(
        tmp_path / "casa",
        gateway={"url": "https://gateway.example.test", "token": "file:/nowhere/token", "agent": "jeeves"},
        n8n={
            "url": "https://n8n.example.test",
            "api_key": "file:/nowhere/key",
            "webhook": {"prefix": "casa/butler"},
        },
        google={"url": "https://google.example.test"},
    )
    shell = Shell(tmp_path, inventory)
    assert shell.run("verify", "--lab", "--only", "calendar_*/kid").code == 0


def test_lab_up_names_the_places_where_it_cannot_be_reached(tmp_path):
    shell = Shell(tmp_path, write_household(tmp_path / "casa", google={"url": "https://google.example.test"}))
    with shell.start("lab", "up") as lab:
        assert lab.stdout.readline() == "the lab is up\n"
        lab.terminate()
        _, talk = lab.communicate(timeout=10)
    assert "google.url is no ${NAME}: another process cannot be led to the lab there" in talk


def test_only_loopback_is_contacted_whatever_proxy_and_addresses_the_environment_names(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(AUDIT)
    audit = tmp_path / "contacted"
    proxies = {f"{name}_proxy": DEAD_PROXY for name in ("http", "https", "all", "ws", "wss")}
    shell = Shell(
        tmp_path,
        environ={
            "PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}",
            "AUDIT_FILE": str(audit),
            **proxies,
            **{name.upper(): value for name, value in proxies.items()},
            "N8N_URL": "https://n8n.example.test",
            "OPENCLAW_GATEWAY_URL": "https://gateway.example.test",
            "BUTLERCTL_GOOGLE_URL": "https://google.example.test",
        },
    )
    assert shell.run("verify", "--lab").code == 0
    contacted = audit.read_text().split()
    assert len(contacted) > 100
    assert set(contacted) == {"127.0.0.1"}
