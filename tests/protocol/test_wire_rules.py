"""The rules of each wire format, on turns that no recorded case shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from wire_cases import dispatchable, registry, turn_of

from butlerctl.errors import BadDocument, UsageProblem
from butlerctl.protocol.decode import read_payload
from butlerctl.protocol.observation import of_result
from butlerctl.protocol.wires import ADAPTERS

TASK = {"profile": "wife", "title": "Buy milk"}
TASK_TEXT = json.dumps(TASK)
ADD_TASK = [json.dumps(["add_task", TASK], sort_keys=True)]
BAR, BLOCK = "\uff5c", "\u2581"


def chat(*calls: dict[str, Any], finish: str | None = "tool_calls", **message: Any) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "finish_reason": finish, "message": {"tool_calls": list(calls), **message}}]
    }


def chat_stream(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> list[dict[str, Any]]:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in deltas]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def entry(arguments: Any = TASK_TEXT, name: str = "add_task", **more: Any) -> dict[str, Any]:
    return {"id": "c1", "function": {"name": name, "arguments": arguments}, **more}


def outcome(adapter: str, payload: Any) -> tuple[list[str], list[str]]:
    turn = turn_of(adapter, payload)
    return dispatchable(turn), [call.code for call in turn.rejected]


@pytest.mark.parametrize(
    "reason", ["length", "content_filter", "error", "refusal", "insufficient_system_resource"]
)
def test_no_call_of_a_turn_with_a_bad_end_is_dispatched_even_when_it_is_whole(reason):
    turn = turn_of("openai_chat", chat(entry(), finish=reason))
    assert (dispatchable(turn), turn.notes) == ([], ("incomplete",))


def test_a_bad_finish_wins_over_a_good_one_in_either_order():
    for reasons in (("tool_calls", "length"), ("length", "tool_calls")):
        stream = chat_stream(entry(index=0), finish=reasons[0])
        stream.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reasons[1]}]})
        assert outcome("openai_chat", stream) == ([], ["invalid_json"])


def test_an_unknown_tool_of_a_cut_off_turn_is_named_as_unknown():
    assert outcome("openai_chat", chat(entry(name="nukes"), finish=None)) == ([], ["unknown_tool"])


def test_a_chunk_that_could_not_be_read_spoils_the_stream():
    stream: list[Any] = chat_stream(entry(index=0))
    stream.insert(1, "{broken")
    assert outcome("openrouter", stream) == ([], ["invalid_json"])


def test_an_id_decides_even_when_the_index_changes_under_it():
    first, second = TASK_TEXT[:9], TASK_TEXT[9:]
    stream = chat_stream(entry(first, index=0), {"index": 4, "id": "c1", "function": {"arguments": second}})
    assert outcome("openai_chat", stream) == (ADD_TASK, [])


def test_whole_calls_streamed_under_one_id_stay_two_calls():
    other = json.dumps({"profile": "husband", "title": "Call school"})
    turn = turn_of("openai_chat", chat_stream(entry(index=0), entry(other, index=1)))
    assert [call.args["profile"] for call in turn.calls] == ["wife", "husband"]
    assert turn.calls[0].id == "c1" != turn.calls[1].id
    assert turn.notes == ("duplicate_id", "minted_id")


def test_a_whole_call_streamed_twice_under_one_id_is_one_call():
    turn = turn_of("openai_chat", chat_stream(entry(index=0), entry(index=0)))
    assert (dispatchable(turn), turn.notes) == (ADD_TASK, ("duplicate_delivery",))


def test_the_id_may_come_after_the_index_was_opened_without_one():
    stream = chat_stream(
        {"index": 2, "function": {"name": "add_task"}},
        {"index": 2, "id": "late", "function": {"arguments": TASK_TEXT}},
    )
    turn = turn_of("openai_chat", stream)
    assert [call.id for call in turn.calls] == ["late"]


def test_calls_without_ids_are_told_apart_by_their_index():
    stream = chat_stream(
        {"index": 0, "function": {"name": "list_tasks", "arguments": '{"profile":'}},
        {"index": 1, "function": {"name": "list_tasks", "arguments": '{"profile":"husband"}'}},
        {"index": 0, "function": {"arguments": '"wife"}'}},
    )
    turn = turn_of("openai_chat", stream)
    assert [call.args["profile"] for call in turn.calls] == ["wife", "husband"]
    assert len({call.id for call in turn.calls}) == 2


def test_a_minted_id_never_equals_one_of_the_wire():
    turn = turn_of("openai_chat", chat(entry(id=None), entry(id="minted_1")))
    assert sorted(call.id for call in turn.calls) == ["minted_1", "minted_2"]


@pytest.mark.parametrize("name", [None, "", 17, ["add_task"], {"add_task": 1}, True])
def test_a_name_that_is_missing_or_no_text_is_unknown(name):
    assert outcome("openai_chat", chat(entry(name=name))) == ([], ["unknown_tool"])
    assert outcome("openai_chat", chat_stream(entry(name=name, index=0))) == ([], ["unknown_tool"])


def test_spelling_does_not_make_a_second_delivery_another_call():
    spaced = json.dumps(TASK, indent=1)
    turn = turn_of("openai_chat", chat(entry(), entry(spaced)))
    assert (len(turn.calls), turn.notes) == (1, ("duplicate_delivery",))


def test_true_and_1_under_one_id_are_two_calls():
    one, true = ('{"profile":"wife","sheet":"S","values":[%s]}' % value for value in ("1", "true"))  # noqa: UP031 - braces
    turn = turn_of("openai_chat", chat(entry(one, "append_sheet_row"), entry(true, "append_sheet_row")))
    assert (len(turn.calls), [call.code for call in turn.rejected]) == (1, ["invalid_args"])


def test_faults_inside_an_object_are_found_although_the_envelope_was_parsed():
    for inside in ('"profile":"husband","profile":"wife","title":"x"', '"profile":"wife","title":"\\ud83d"'):
        call = f'{{"function":{{"name":"add_task","arguments":{{{inside}}}}}}}'
        payload = read_payload(f'{{"message":{{"tool_calls":[{call}]}},"done":true}}')
        assert outcome("ollama", payload) == ([], ["invalid_json"])


@pytest.mark.parametrize("finish", ["STOP", "MAX_TOKENS", "SAFETY", None])
def test_gemini_dispatches_only_after_stop(finish):
    part = {"functionCall": {"name": "add_task", "args": TASK}}
    payload = [{"candidates": [{"content": {"parts": [part]}}]}, {"candidates": [{"finishReason": finish}]}]
    assert outcome("gemini", payload) == ((ADD_TASK, []) if finish == "STOP" else ([], ["invalid_json"]))


def test_gemini_thoughts_are_no_visible_text():
    parts = [{"text": "to=functions.add_task", "thought": True}, {"text": "Shall I?"}]
    turn = turn_of("gemini", {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
    assert (turn.text, turn.leaks) == ("Shall I?", ())


def test_gemini_arguments_in_parts_are_never_completed():
    call = {"name": "add_task", "partialArgs": [{"jsonPath": "$.profile", "stringValue": "wife"}]}
    payload = {"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": "STOP"}]}
    assert outcome("gemini", payload) == ([], ["invalid_json"])


COHERE = [
    {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will add it."}}},
    {
        "type": "tool-call-start",
        "index": 0,
        "delta": {
            "message": {
                "tool_calls": {
                    "id": "t1",
                    "type": "function",
                    "function": {"name": "add_task", "arguments": ""},
                }
            }
        },
    },
    {
        "type": "tool-call-delta",
        "index": 0,
        "delta": {"message": {"tool_calls": {"function": {"arguments": TASK_TEXT[:5]}}}},
    },
    {
        "type": "tool-call-delta",
        "index": 0,
        "delta": {"message": {"tool_calls": {"function": {"arguments": TASK_TEXT[5:]}}}},
    },
    {"type": "tool-call-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
]


def test_cohere_streams_a_call_that_is_whole_only_with_both_ends():
    assert outcome("cohere_v2", COHERE) == (ADD_TASK, [])
    for missing in (5, 6):
        assert outcome("cohere_v2", COHERE[:missing] + COHERE[missing + 1 :]) == ([], ["invalid_json"])


@pytest.mark.parametrize(
    "last", [{"done": True, "done_reason": "length"}, {"done": False}, {"error": "gone"}]
)
def test_ollama_dispatches_only_after_a_good_last_line(last):
    line = {"message": {"tool_calls": [{"function": {"name": "add_task", "arguments": TASK}}]}, "done": False}
    assert outcome("ollama", [line, {"done": True, "done_reason": "stop"}]) == (ADD_TASK, [])
    assert outcome("ollama", [line, last]) == ([], ["invalid_json"])


ANTHROPIC = [
    {"type": "message_start", "message": {}},
    {
        "type": "content_block_start",
        "index": 3,
        "content_block": {"type": "tool_use", "id": "t", "name": "add_task", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 3,
        "delta": {"type": "input_json_delta", "partial_json": TASK_TEXT},
    },
    {"type": "content_block_stop", "index": 3},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]


def test_anthropic_needs_the_stop_of_the_block_and_of_the_message():
    assert outcome("anthropic", ANTHROPIC) == (ADD_TASK, [])
    for missing in (3, 4, 5):
        assert outcome("anthropic", ANTHROPIC[:missing] + ANTHROPIC[missing + 1 :]) == ([], ["invalid_json"])


def test_an_anthropic_tool_without_arguments_sends_no_delta():
    turn = turn_of("anthropic", ANTHROPIC[:2] + ANTHROPIC[3:])
    assert ([call.code for call in turn.rejected], turn.notes) == (["invalid_args"], ("empty_args",))


RESPONSES = [
    {
        "type": "response.output_item.added",
        "item": {"type": "function_call", "id": "f", "call_id": "c", "name": "add_task"},
    },
    {"type": "response.function_call_arguments.delta", "item_id": "f", "delta": TASK_TEXT},
    {"type": "response.function_call_arguments.done", "item_id": "f", "arguments": TASK_TEXT},
    {
        "type": "response.output_item.done",
        "item": {
            "type": "function_call",
            "id": "f",
            "call_id": "c",
            "name": "add_task",
            "arguments": TASK_TEXT,
            "status": "completed",
        },
    },
    {"type": "response.completed", "response": {}},
]


def test_responses_need_every_end_and_may_do_without_deltas():
    assert outcome("openai_responses", RESPONSES) == (ADD_TASK, [])
    assert outcome("openai_responses", RESPONSES[:1] + RESPONSES[2:]) == (ADD_TASK, [])
    for missing in (2, 3, 4):
        assert outcome("openai_responses", RESPONSES[:missing] + RESPONSES[missing + 1 :]) == (
            [],
            ["invalid_json"],
        )


def test_responses_may_name_their_items_by_place_or_by_id():
    places = [
        {key: value for key, value in event.items() if key != "item_id"} | {"output_index": 0}
        for event in RESPONSES
    ]
    assert outcome("openai_responses", places) == (ADD_TASK, [])


def test_the_text_of_a_response_is_searched_however_it_came():
    message = {"type": "message", "content": [{"type": "output_text", "text": "<tool_call>"}]}
    stream = [{"type": "response.output_item.done", "item": message}, {"type": "response.completed"}]
    assert turn_of("openai_responses", stream).leaks == ("tool_call_xml",)
    assert turn_of("openai_responses", {"status": "completed", "output": [message]}).leaks == (
        "tool_call_xml",
    )


def test_a_failed_response_dispatches_nothing():
    assert outcome("openai_responses", [*RESPONSES[:4], {"type": "response.failed"}]) == (
        [],
        ["invalid_json"],
    )


def test_a_custom_tool_of_responses_is_no_function_and_a_hosted_one_is_no_call():
    items = [
        {
            "type": "custom_tool_call",
            "call_id": "c",
            "name": "add_task",
            "input": "milk",
            "status": "completed",
        },
        {"type": "web_search_call", "id": "w", "status": "completed"},
    ]
    assert outcome("openai_responses", {"status": "completed", "output": items}) == ([], ["unknown_tool"])


DSML_TASK = (
    f'<{BAR}DSML{BAR}invoke name="add_task"><{BAR}DSML{BAR}parameter name="profile" string="true">wife'
    f'</{BAR}DSML{BAR}parameter><{BAR}DSML{BAR}parameter name="title" string="true">Buy milk'
    f"</{BAR}DSML{BAR}parameter></{BAR}DSML{BAR}invoke>"
)
XML_TASK = (
    "<tool_name>add_task</tool_name><parameters><profile>wife</profile><title>Buy milk</title></parameters>"
)
QWEN_TASK = "<function=add_task><parameter=profile>\nwife\n</parameter><parameter=title>\nBuy milk\n</parameter></function>"
GLM_TASK = "<arg_key>profile</arg_key><arg_value>wife</arg_value><arg_key>title</arg_key><arg_value>Buy milk</arg_value>"
V31_TASK = f"<{BAR}tool{BLOCK}call{BLOCK}begin{BAR}>add_task<{BAR}tool{BLOCK}sep{BAR}>{TASK_TEXT}<{BAR}tool{BLOCK}call{BLOCK}end{BAR}>"
KIMI_TASK = f"<|tool_call_begin|>functions.add_task:3<|tool_call_argument_begin|>{TASK_TEXT}<|tool_call_end|>"
MINIMAX_TASK = '<invoke name="add_task"><parameter name="profile">wife</parameter><parameter name="title">Buy milk</parameter></invoke>'

# adapter, what opens a block, one call, what closes the block
BLOCKS = [
    ("hermes_text", "", f'<tool_call>{{"name":"add_task","arguments":{TASK_TEXT}}}</tool_call>', ""),
    ("qwen3_coder_text", "<tool_call>", QWEN_TASK, "</tool_call>"),
    ("glm45_text", "", f"<tool_call>add_task\n{GLM_TASK}</tool_call>", ""),
    ("kimi_k2_text", "<|tool_calls_section_begin|>", KIMI_TASK, "<|tool_calls_section_end|>"),
    ("minimax_m2_text", "<minimax:tool_call>", MINIMAX_TASK, "</minimax:tool_call>"),
    (
        "deepseek_v31_text",
        f"<{BAR}tool{BLOCK}calls{BLOCK}begin{BAR}>",
        V31_TASK,
        f"<{BAR}tool{BLOCK}calls{BLOCK}end{BAR}>",
    ),
    ("deepseek_dsml_text", f"<{BAR}DSML{BAR}function_calls>", DSML_TASK, f"</{BAR}DSML{BAR}function_calls>"),
    ("deepseek_dsml_text", f"<{BAR}DSML{BAR}tool_calls>", DSML_TASK, f"</{BAR}DSML{BAR}tool_calls>"),
    (
        "harmony_text",
        "",
        f"<|start|>assistant to=functions.add_task<|channel|>commentary<|constrain|>json<|message|>{TASK_TEXT}<|call|>",
        "",
    ),
    ("claude_xml_text", "<function_calls>", f"<invoke>{XML_TASK}</invoke>", "</function_calls>"),
]


@pytest.mark.parametrize(("adapter", "begin", "call", "end"), BLOCKS)
def test_text_formats_carry_several_calls_between_prose(adapter, begin, call, end):
    second = call.replace("functions.add_task:3", "functions.add_task:4")
    turn = turn_of(adapter, f"Sure.\n{begin}{call}\n{second}{end}\nThat is all.")
    assert (dispatchable(turn), turn.rejected, turn.leaks) == (ADD_TASK * 2, (), ())
    assert turn.calls[0].id != turn.calls[1].id
    assert {item.origin for item in turn.calls} == {f"text:{adapter}"}


@pytest.mark.parametrize(("adapter", "begin", "call", "end"), BLOCKS)
def test_no_beginning_of_a_text_call_is_a_call(adapter, begin, call, end):
    text = f"{begin}{call}{end}"
    for length in range(len(text)):
        assert turn_of(adapter, text[:length]).calls == (), text[:length]


@pytest.mark.parametrize(("adapter", "begin", "call", "end"), BLOCKS)
def test_text_formats_are_leaks_under_the_adapter_of_the_household(adapter, begin, call, end):
    turn = turn_of("openai_chat", chat(finish="stop", content=f"{begin}{call}{end}"))
    assert turn.leaks
    assert turn.items == ()


@pytest.mark.parametrize(("adapter", "begin", "call", "end"), BLOCKS)
def test_prose_is_no_call_and_no_leak_under_a_text_adapter(adapter, begin, call, end):
    turn = turn_of(adapter, "Shall I add the dentist (Saturday, x < 3 | y > 4)?")
    assert (turn.items, turn.leaks) == ((), ())


@pytest.mark.parametrize(
    ("text", "calls", "errors"),
    [
        (f'{{"name":"add_task","parameters":{TASK_TEXT}}}', 1, []),
        (
            f'{{"name":"add_task","parameters":{TASK_TEXT}}}; {{"name":"nukes","parameters":{{}}}}',
            1,
            ["unknown_tool"],
        ),
        ('{"name":"add_task","parameters":{"profile":"wife","title":"a; b"}}<|eot_id|>', 1, []),
        (f'Here it is: {{"name":"add_task","parameters":{TASK_TEXT}}}', 0, ["invalid_json"]),
        (f'<|python_tag|>{{"name":"add_task","parameters":{TASK_TEXT}}} Anything else?', 0, ["invalid_json"]),
        ('<|python_tag|>{"name":"add_task","parameters":{"profile":', 0, ["invalid_json"]),
        ('{"month": "July", "total": 84.2}', 0, []),
    ],
)
def test_llama_takes_the_whole_text_or_nothing(text, calls, errors):
    turn = turn_of("llama3_json_text", text)
    assert (len(turn.calls), [call.code for call in turn.rejected]) == (calls, errors)


@pytest.mark.parametrize(
    ("value", "outcome_of_it"),
    [("20", 20), (" 20 ", 20), ("020", "invalid_args"), ("2.0", "invalid_args"), ("twenty", "invalid_args")],
)
def test_bare_text_becomes_an_integer_only_where_the_schema_says_so(value, outcome_of_it):
    text = (
        "<function=read_sheet><parameter=profile>\nwife\n</parameter><parameter=sheet>\n2026\n</parameter>"
        f"<parameter=limit>\n{value}\n</parameter></function>"
    )
    turn = turn_of("qwen3_coder_text", text)
    if isinstance(outcome_of_it, int):
        assert turn.calls[0].args == {"profile": "wife", "sheet": "2026", "limit": outcome_of_it}
    else:
        assert [call.code for call in turn.rejected] == [outcome_of_it]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ("<parameter=values>\n[1, 'two']\n</parameter>", "invalid_json"),
        ("<parameter=values>\n[1]\n</parameter><parameter=values>\n[1]\n</parameter>", "invalid_json"),
        ("<parameter=values>\n[1]\n</parameter> and so on", "invalid_json"),
        ("<parameter=values>\n[1]\n</parameter><parameter=colour>\nred\n</parameter>", "invalid_args"),
        ("<parameter=values>\n[1]", "invalid_json"),
    ],
)
def test_fields_that_do_not_fit_are_refused(parameters, code):
    head = "<parameter=profile>\nwife\n</parameter><parameter=sheet>\nS\n</parameter>"
    assert outcome("qwen3_coder_text", f"<function=append_sheet_row>{head}{parameters}</function>") == (
        [],
        [code],
    )


def test_one_newline_on_each_side_belongs_to_the_markup_and_no_more():
    text = "<function=add_task><parameter=profile>wife</parameter><parameter=title>\n\n a \n\n</parameter></function>"
    assert turn_of("qwen3_coder_text", text).calls[0].args["title"] == "\n a \n"


def test_dsml_says_itself_what_is_text():
    def parameter(name: str, kind: str, value: str) -> str:
        return f'<{BAR}DSML{BAR}parameter name="{name}" string="{kind}">{value}</{BAR}DSML{BAR}parameter>'

    fields = (
        parameter("profile", "false", "wife")
        + parameter("sheet", "true", "17")
        + parameter("limit", "false", "7")
    )
    invoke = f'<{BAR}DSML{BAR}invoke name="read_sheet">{fields}</{BAR}DSML{BAR}invoke>'
    turn = turn_of("deepseek_dsml_text", f"<{BAR}DSML{BAR}tool_calls>{invoke}</{BAR}DSML{BAR}tool_calls>")
    assert turn.calls[0].args == {"profile": "wife", "sheet": "17", "limit": 7}


def test_damaged_dsml_stays_a_leak_under_its_own_adapter():
    turn = turn_of("deepseek_dsml_text", f"<{BAR}{BAR}DSML{BAR}{BAR}tool_calls>")
    assert (turn.items, turn.leaks) == ((), ("dsml",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|channel|>commentary<|message|>I will add it.<|end|>", ([], [])),
        (f"<|channel|>commentary to=functions.add_task<|message|>{TASK_TEXT}<|end|>", ([], ["invalid_json"])),
        ("<|channel|>commentary to=functions.add_task <|constrain|>js", ([], ["invalid_json"])),
        (f"<|channel|>commentary to=add_task<|message|>{TASK_TEXT}<|call|>", ([], ["unknown_tool"])),
        (
            f"<|start|>functions.add_task to=assistant<|channel|>commentary<|message|>{TASK_TEXT}<|end|>",
            ([], []),
        ),
        (f"<|channel|>analysis to=functions.add_task code<|message|>{TASK_TEXT}<|call|>", (ADD_TASK, [])),
    ],
)
def test_in_harmony_the_recipient_and_the_call_token_make_the_call(text, expected):
    assert outcome("harmony_text", text) == expected


@pytest.mark.parametrize(
    ("wire_id", "code"), [("add_task:0", "unknown_tool"), ("functions.:0", "unknown_tool")]
)
def test_a_kimi_id_without_a_name_is_unknown(wire_id, code):
    text = f"<|tool_call_begin|>{wire_id}<|tool_call_argument_begin|>{TASK_TEXT}<|tool_call_end|>"
    assert outcome("kimi_k2_text", text) == ([], [code])


def test_markup_of_another_format_is_a_leak_under_a_text_adapter_too():
    assert turn_of("hermes_text", f"Sure.{KIMI_TASK}").leaks == ("kimi_tokens",)


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
def test_a_payload_of_the_wrong_shape_is_a_bad_document(adapter):
    with pytest.raises(BadDocument):
        turn_of(adapter, {"a": 1} if adapter.endswith("_text") else "text")


def test_an_adapter_is_never_guessed():
    with pytest.raises(UsageProblem, match="no adapter 'auto'"):
        turn_of("auto", {})


@pytest.mark.parametrize("adapter", [name for name in ADAPTERS if not name.endswith("_text")])
def test_every_structured_adapter_offers_the_tools_and_sends_the_observation_back(adapter):
    wire = ADAPTERS[adapter]
    observation = of_result("call_1", "add_task", {"ok": True})
    offered, sent = json.dumps(wire.tools(registry().schemas)), json.dumps(wire.result(observation))
    assert all(name in offered for name in registry().names)
    assert ("call_1" in sent) or ("add_task" in sent)
    assert "ok" in sent
