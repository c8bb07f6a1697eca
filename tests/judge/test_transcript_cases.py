from __future__ import annotations

import json
from pathlib import Path

import pytest

from butlerctl.evidence import intent_of
from butlerctl.gateway.transcripts import transcript_of
from butlerctl.judge.transcript import judge_transcript

FOLDER = Path(__file__).parent.parent / "cases" / "transcripts"


@pytest.fixture(scope="module", params=sorted(path.stem for path in FOLDER.glob("*.json")))
def recorded(request) -> dict:
    return json.loads((FOLDER / f"{request.param}.json").read_text(encoding="utf-8"))


def test_a_recorded_session_is_judged_as_it_went(recorded):
    got = judge_transcript(transcript_of(recorded["rows"]), intent_of(recorded["intent"])).as_json()
    got["first_broken"] = got["first_broken"] and got["first_broken"]["link"]
    for key, want in recorded["expect"].items():
        if key == "wrote":
            continue
        assert got[key] in (want["one_of"] if isinstance(want, dict) else [want]), key


def test_without_a_request_a_session_is_never_more_than_unknown(recorded):
    got = judge_transcript(transcript_of(recorded["rows"])).as_json()
    assert got["verdict"] != "PASS"
    assert got["turn"] == "none"
    assert all(note["check"].partition(".")[0] in {"call", "report"} for note in got["notes"])


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("imitation", "call.toolcall_structured"),
        ("dsml", "call.toolcall_structured"),
        ("xmltext", "call.toolcall_structured"),
        ("harmony", "call.toolcall_structured"),
        ("unknown", "call.orphan_result"),
        ("loop", "call.no_duplicate_calls"),
        ("dup", "call.no_duplicate_calls"),
        ("truncstr", "call.args_json"),
        ("trailingcomma", "call.args_json"),
        ("badjson", "call.args_json"),
    ],
)
def test_every_flag_of_a_recording_is_a_note(name, check):
    held = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    notes = judge_transcript(transcript_of(held["rows"])).notes
    assert check in {note.check for note in notes}


@pytest.mark.parametrize("name", ["imitation", "dsml", "unknown", "lie", "stoptext"])
def test_an_imitation_an_orphan_or_an_unbacked_claim_fails_even_without_a_request(name):
    held = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert judge_transcript(transcript_of(held["rows"])).as_json()["verdict"] == "FAIL"
