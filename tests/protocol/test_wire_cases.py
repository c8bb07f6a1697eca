from __future__ import annotations

import json

import pytest
from wire_cases import CASES, REGISTRY_FILE, case_id, dispatchable, spelled, turn_of

from butlerctl.cli.app import run
from butlerctl.protocol.wires import ADAPTERS


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_turn_gives_the_expected_calls_errors_leaks_and_notes(case):
    expected = case["expect"]
    turn = turn_of(case["vendor"], case["payload"])

    assert dispatchable(turn) == spelled(expected["calls"])
    assert [call.code for call in turn.rejected] == expected["errors"]
    assert set(turn.leaks) == set(expected["leaks"])
    assert set(turn.notes) == set(expected["notes"])
    for call, wanted in zip(turn.calls, expected["calls"], strict=True):
        assert call.id == wanted.get("id", call.id)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_every_call_has_an_id_of_its_own(case):
    ids = [item.id for item in turn_of(case["vendor"], case["payload"]).items]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def test_every_adapter_has_a_case():
    covered = {case["vendor"] for case in CASES}
    assert set(ADAPTERS) - covered == {"openrouter", "deepseek_chat"}  # both are read by the openai_chat code


@pytest.mark.parametrize("name", ["openrouter", "deepseek_chat"])
def test_the_dialects_of_chat_completions_are_read_like_it(name):
    chat = [case for case in CASES if case["vendor"] == "openai_chat"]
    assert all(turn_of(name, case["payload"]) == turn_of("openai_chat", case["payload"]) for case in chat)


@pytest.mark.parametrize("case", CASES[::11], ids=case_id)
def test_the_command_prints_the_same_as_one_object(case, tmp_path, capsys):
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps(case["payload"]), encoding="utf-8")
    arguments = ["--adapter", case["vendor"], "--registry", str(REGISTRY_FILE), "--format", "json"]

    code = run(["protocol", "normalize", *arguments, str(payload)])

    printed = json.loads(capsys.readouterr().out)
    expected = case["expect"]
    assert spelled(printed["calls"]) == spelled(expected["calls"])
    assert [error["code"] for error in printed["errors"]] == expected["errors"]
    assert set(printed["leaks"]) == set(expected["leaks"])
    assert set(printed["notes"]) == set(expected["notes"])
    assert code == (1 if expected["errors"] or expected["leaks"] else 0)


def test_the_documentation_names_every_adapter():
    page = (REGISTRY_FILE.parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
    assert [name for name in ADAPTERS if f"`{name}`" not in page] == []
