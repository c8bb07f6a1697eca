from __future__ import annotations

import json

import pytest

from butlerctl.errors import BadInput
from butlerctl.protocol import observation
from butlerctl.protocol.call import Call, RejectedCall
from butlerctl.protocol.dispatch import dispatch, dispatch_all
from butlerctl.protocol.observation import MOST_CHARACTERS
from butlerctl.protocol.registry import Registry, Tool, read_registry
from butlerctl.protocol.tools import ToolSchema
from butlerctl.redaction import register_secret

ANY = {"type": "object"}


def answering(result):
    return Registry([Tool(ToolSchema("look", "", ANY), lambda **_: result)])


def call(name="look", **args):
    return Call("c1", name, args, "c1", "native", json.dumps(args))


def test_a_result_goes_back_as_json_with_the_id_of_its_call():
    seen = dispatch(call(), answering({"rows": [1, "zwei"]}))
    assert (seen.id, seen.code, json.loads(seen.content)) == ("c1", None, {"rows": [1, "zwei"]})


@pytest.mark.parametrize("result", [{"error": "not_found"}, {"ok": False, "error": {"code": "not_found"}}])
def test_not_found_is_named_and_was_executed(result):
    seen = dispatch(call(), answering(result))
    assert (seen.code, seen.executed) == ("not_found", True)


def test_an_empty_result_is_no_failure_and_a_failure_is_no_empty_result():
    assert dispatch(call(), answering("")).content == '""'
    failing = Registry([Tool(ToolSchema("look", "", ANY), lambda: None)])
    assert dispatch(call(surplus=1), failing).code == "tool_error"


def test_a_long_result_is_capped_and_says_so():
    content = json.loads(dispatch(call(), answering("x" * 50_000)).content)
    assert content["truncated"] is True
    assert content["characters"] == 50_002
    assert len(content["beginning"]) == MOST_CHARACTERS


def test_secrets_do_not_reach_the_model():
    register_secret("s3cret-of-the-test")
    seen = dispatch(call(), answering({"note": "s3cret-of-the-test", "Authorization": "private-thing"}))
    assert "s3cret" not in seen.content
    assert "private-thing" not in seen.content


def test_a_result_that_is_no_json_value_is_spelled_as_text():
    assert dispatch(call(), answering({"when": ValueError("x")})).content == '{"when": "x"}'


def test_a_call_without_a_function_behind_its_tool_runs_nothing():
    seen = dispatch(call(), Registry([Tool(ToolSchema("look", "", ANY))]))
    assert (seen.code, seen.executed) == ("unknown_tool", False)


def test_a_call_that_was_never_judged_reaches_no_other_function():
    assert dispatch(call("__class__"), answering({})).code == "unknown_tool"


def test_a_name_is_registered_once():
    with pytest.raises(BadInput, match="twice"):
        Registry([Tool(ToolSchema("look", "", ANY)), Tool(ToolSchema("look", "", ANY))])


@pytest.mark.parametrize(
    "document", [{}, ["x"], [{"parameters": {}}], [{"name": "", "parameters": {}}], [{"name": "a"}]]
)
def test_a_registry_file_of_another_shape_is_refused(document):
    with pytest.raises(BadInput):
        read_registry(document)


def test_what_a_schema_cannot_say_is_checked_after_it():
    tool = Tool(ToolSchema("look", "", ANY), beyond_schema=lambda _: ["end: must be after start"])
    assert tool.faults({}) == ["end: must be after start"]


def test_whole_floats_are_no_integers_at_any_depth():
    inner = {
        "type": "object",
        "properties": {"n": {"type": "array", "items": {"type": "integer"}}, "any": True},
    }
    tool = Tool(ToolSchema("look", "", {"type": "object", "properties": {"inner": inner}}))
    assert tool.faults({"inner": {"n": [1, 2], "any": 5.0}}) == []
    assert tool.faults({"inner": {"n": [1, 5.0]}}) == ["inner.n.1: 5.0 is not of type 'integer'"]


def test_not_run_says_why():
    assert (
        json.loads(observation.not_run("a", "look", "cancelled", "why").content)["error"]["code"]
        == "cancelled"
    )


def test_whoever_watches_is_told_of_each_call_that_runs_before_and_after_it():
    told = []

    class Told:
        def started(self, call):
            told.append(("started", call.id))

        def ended(self, observation):
            told.append(("ended", observation.id, observation.code))

    tool = Tool(ToolSchema("look", "", ANY), lambda **_: told.append("runs"))
    refused = RejectedCall("c0", "lok", "unknown_tool", "no such tool", "c0", "native", "{}")
    dispatch_all([refused, call()], Registry([tool]), watch=Told())
    assert told == [("started", "c1"), "runs", ("ended", "c1", None)]
