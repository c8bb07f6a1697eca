"""The same turn in every form of transcript: the judge must not see a difference."""

from __future__ import annotations

import json

import pytest

from butlerctl.errors import BadDocument
from butlerctl.evidence import Intent
from butlerctl.gateway.transcripts import read_transcript, transcript_of
from butlerctl.judge.conversation import read_conversation
from butlerctl.judge.transcript import judge_transcript

ARGUMENTS = {"profile": "anna", "title": "Call the plumber", "due": "2026-05-04"}
RAW = json.dumps(ARGUMENTS)
RESULT = json.dumps({"ok": True, "id": "t-77"})
ASKED, SAID = "Remind Anna to call the plumber by 4 May.", "Added for 4 May."
TOOLS = ["add_task", "list_tasks"]
INTENT = Intent("tasks_add", "anna", "add_task", ARGUMENTS)

CHAT = [
    {"role": "user", "content": ASKED},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add_task", "arguments": RAW}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": RESULT},
    {"role": "assistant", "content": SAID},
]
LEGACY = [
    CHAT[0],
    {"role": "assistant", "content": None, "function_call": {"name": "add_task", "arguments": RAW}},
    {"role": "function", "name": "add_task", "content": RESULT},
    CHAT[3],
]
ANTHROPIC = [
    {"role": "user", "content": ASKED},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "c1", "name": "add_task", "input": ARGUMENTS},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": RESULT}]}
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": SAID}]},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add_task", "arguments": RAW},
    {"type": "function_call_output", "call_id": "c1", "output": RESULT},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]},
]
OPENCLAW = [
    {"type": "session", "version": 3, "id": "s"},
    {"type": "message", "message": {"role": "user", "content": ASKED}},
    {
        "type": "message",
        "message": {
            "role": "assistant",
            "content": [
                {
                    "type": "toolCall",
                    "id": "c1",
                    "name": "add_task",
                    "arguments": ARGUMENTS,
                    "partialArgs": RAW,
                }
            ],
            "stopReason": "toolUse",
        },
    },
    {
        "type": "message",
        "message": {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "add_task",
            "content": [{"type": "text", "text": RESULT}],
            "isError": False,
        },
    },
    {
        "type": "message",
        "message": {"role": "assistant", "content": [{"type": "text", "text": SAID}], "stopReason": "stop"},
    },
]
FORMS = {
    "messages": CHAT,
    "chat request": {
        "model": "m",
        "messages": CHAT,
        "tools": [{"type": "function", "function": {"name": "add_task"}}],
    },
    "chat request and response": {
        "request": {"messages": CHAT[:3]},
        "response": {"choices": [{"index": 0, "message": CHAT[3], "finish_reason": "stop"}]},
    },
    "older function calls": LEGACY,
    "anthropic": {"system": "s", "messages": ANTHROPIC, "tools": [{"name": "add_task", "input_schema": {}}]},
    "anthropic request and response": {
        "messages": ANTHROPIC[:3],
        "response": {"role": "assistant", "content": ANTHROPIC[3]["content"], "stop_reason": "end_turn"},
    },
    "responses items": RESPONSES,
    "responses": {"input": RESPONSES[:4], "output": RESPONSES[4:], "status": "completed"},
    "openclaw session": OPENCLAW,
    "transcript document": {"kind": "transcript", "messages": CHAT, "complete": True},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_turn_is_read_the_same_from_every_form(form):
    turn = read_conversation(transcript_of(FORMS[form]))
    assert [(call.name, call.arguments, call.result) for call in turn.calls] == [
        ("add_task", ARGUMENTS, RESULT)
    ]
    assert turn.reply == SAID
    assert turn.prompts == (ASKED,)
    assert turn.complete
    judgement = judge_transcript(transcript_of(FORMS[form]), INTENT)
    assert (str(judgement.turn), judgement.first_broken) == ("unverified", None)


@pytest.mark.parametrize("lines", [CHAT, ANTHROPIC, RESPONSES, OPENCLAW])
def test_json_lines_are_read_as_well(tmp_path, lines):
    file = tmp_path / "turn.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    assert read_conversation(read_transcript(file)).reply == SAID


def test_a_recording_that_ends_with_a_call_may_have_stopped():
    assert transcript_of(CHAT[:2])["complete"] is False
    assert transcript_of(RESPONSES[:3])["complete"] is False


def test_offered_tools_are_kept():
    assert transcript_of(FORMS["chat request"])["tools_offered"] == ["add_task"]
    assert transcript_of(FORMS["anthropic"])["tools_offered"] == ["add_task"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '"x"', "7", "null", '{"a": 1}\nno json', "[[1]]", '{"messages": 3}']
)
def test_what_is_no_transcript_is_refused_in_one_line(tmp_path, text):
    file = tmp_path / "odd.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadDocument, match=r"odd\.json: [^\n]+$"):
        read_transcript(file)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    file = tmp_path / "odd.json"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadDocument):
        read_transcript(file)
    with pytest.raises(BadDocument):
        read_transcript(tmp_path / "absent.json")
