"""The plugin: its own node tests, and its schemas and checks held equal to butlerctl's."""

from __future__ import annotations

import base64
import html
import json
import subprocess
from urllib.parse import quote, quote_plus

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from butlerctl import redaction
from butlerctl.gateway.repeats import RepeatGuard
from butlerctl.gateway.webhook_answer import Answer, observe
from butlerctl.protocol.tools import ProfileShape, argument_faults, household_tools
from butlerctl.redaction import redact_words, register_secret

SHAPE = {
    "husband": ProfileShape(("Household",), ("Log", "butler verify"), ("date", "item", "amount")),
    "wife": ProfileShape(("Garden", "Household"), ("Log",), ("date", "item")),
}
HOUSEHOLD = {
    name: {"taskLists": person.task_lists, "tabs": person.tabs, "columns": person.columns}
    for name, person in SHAPE.items()
}
SCHEMAS = """
import { TOOL_NAMES, toolSchema } from "./schemas.mjs";
const household = JSON.parse(process.argv[1]);
console.log(JSON.stringify(TOOL_NAMES.map((name) => toolSchema(name, household))));
"""
TEXTS = """
import { TOOL_NAMES, toolSchema } from "./schemas.mjs";
const household = JSON.parse(process.argv[1]);
console.log(JSON.stringify(TOOL_NAMES.map((name) => JSON.stringify(toolSchema(name, household).parameters))));
"""
OBSERVATIONS = """
import { observe } from "./answer.mjs";
import { maskOf } from "./redact.mjs";
const [answers, secret] = process.argv.slice(1).map(JSON.parse);
console.log(JSON.stringify(answers.map((answer) => observe(answer, "/webhook/x", maskOf(secret)))));
"""
MASKED = """
import { maskOf } from "./redact.mjs";
const [secrets, texts] = process.argv.slice(1).map(JSON.parse);
console.log(JSON.stringify(secrets.map((secret, number) => texts[number].map(maskOf(secret)))));
"""
REFUSALS = """
import { RepeatGuard } from "./repeats.mjs";
const guard = new RepeatGuard();
const calls = JSON.parse(process.argv[1]);
console.log(JSON.stringify(calls.map(([seconds, ...call]) => guard.refusal(...call, seconds * 1000) ?? "")));
"""
FAULTS = """
import { toolSchema } from "./schemas.mjs";
import { argumentFaults } from "./validate.mjs";
const household = JSON.parse(process.argv[1]);
const calls = JSON.parse(process.argv[2]);
console.log(JSON.stringify(calls.map(([tool, args]) => argumentFaults(toolSchema(tool, household), args, household))));
"""
EVENT = {
    "profile": "wife",
    "summary": "x",
    "start": "2026-07-04T10:00:00-04:00",
    "end": "2026-07-04T11:00:00-04:00",
}
MOMENTS = (
    "2026-07-04T10:30:00-04:00",
    "2026-07-04T14:30Z",
    "2026-07-04T10:30:00.123456789-04:00",
    "2026-02-29T10:00:00Z",
    "2028-02-29T10:00:00Z",
    "2026-04-31T10:00:00Z",
    "2026-07-04T24:00:00Z",
    "2026-07-04T23:60:00Z",
    "2026-07-04T23:59:60Z",
    "2026-07-04T10:00:00+24:00",
    "2026-07-04T10:00:00+23:59",
    "0000-07-04T10:00:00Z",
    "2026-13-04T10:00:00Z",
    "2026-07-04 10:00:00Z",
    "2026-07-04T10:00:00z",
    "2026-07-04T10:00:00",
    "2026-07-04T10:00:00Z\n",
    "٢026-07-04T10:00:00Z",
    "2026-07-04T1",
    "",
)
CALLS = [
    *(("add_calendar_event", {**EVENT, "start": moment}) for moment in MOMENTS),
    *(("add_calendar_event", {**EVENT, "end": moment}) for moment in MOMENTS),
    *(
        ("add_task", {"profile": "wife", "title": "x", "due": day})
        for day in ("2026-07-04", "2026-02-30", "2028-02-29", "0000-01-01", "2026-7-4", "2026-07-04\n", "")
    ),
    *(("add_task", {"profile": "husband", "title": "x", "list": name}) for name in ("Household", "Garden")),
    *(("read_sheet", {"profile": "wife", "sheet": name}) for name in ("Log", "butler verify", "log")),
    *(
        ("list_tasks", {"profile": "wife", "limit": limit})
        for limit in (0, 1, 100, 101, 2.5, "5", True, None)
    ),
    *(
        ("append_sheet_row", {"profile": name, "sheet": "Log", "values": values})
        for name in ("husband", "wife")
        for values in (
            [],
            ["a"],
            ["a", 1],
            ["a", 1, 2.5],
            ["a", 1, 2, 3],
            ["=a", 1],
            ["-a", "\t@b"],
            [None, 1],
        )
    ),
    ("add_task", {"profile": "wife", "title": " \n "}),
    ("add_task", {"profile": "wife", "title": 17}),
    ("add_task", {"profile": "wife", "title": "x", "colour": "red"}),
    ("add_task", {"profile": "kids", "title": "x"}),
    ("add_task", {"title": "x"}),
    ("add_task", {}),
    ("add_task", []),
]


SECRET = "s3cret/of-the household"
SIGNS = st.sampled_from([*"abcXYZ019-_.~", *"\"\\/<>&'+ %$^*(|)[]{}?#=,;:!@", "ä", "\n", "\t", "€", "😀"])
JSON_TYPE = "application/json; charset=utf-8"
BODIES = [
    {"ok": True, "data": {"id": "e"}, "execution": "17"},
    {"ok": True, "data": {}},
    {"ok": True, "data": []},
    {"ok": True},
    {"ok": "true", "data": {}},
    {"ok": False, "error": {"code": "google_error", "message": "m" * 600}},
    {"ok": False, "error": {"code": "invalid_args", "message": ""}},
    {"ok": False, "error": "words"},
    {"ok": False, "error": {"code": 7, "message": {"a": 1}}},
    {"code": 404, "message": "The requested webhook is not registered."},
    {"message": ["registered"]},
    {"message": "Error in workflow"},
    {"message": "Workflow was started"},
    {"padding": "x" * 600},
    {"message": f"got {SECRET}", "headers": {"x": SECRET}},
    {"ok": False, "error": {"code": "google_error", "message": "m" * 490 + SECRET}},
    {"padding": "x" * 480, "echo": SECRET},
    None,
    [],
    "text",
    3,
]
ANSWERS = [
    *(
        {"status": status, "contentType": content_type, "text": json.dumps(body)}
        for status in (200, 201, 302, 400, 403, 404, 500, 502, 503)
        for content_type in (JSON_TYPE, "text/plain", "")
        for body in BODIES
    ),
    *(
        {"status": status, "contentType": content_type, "text": text}
        for status in (200, 404, 500)
        for content_type in (JSON_TYPE, "text/html", "application/jsonp")
        for text in ("", "{", "<html></html>", "not registered", "NaN", "x" * 490 + SECRET)
    ),
]


def run_node(folder, *arguments):
    done = subprocess.run(
        ["node", *arguments], cwd=folder, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def evaluate(folder, script, *arguments):
    texts = [json.dumps(argument) for argument in arguments]
    return json.loads(run_node(folder, "--input-type=module", "-e", script, "--", *texts))


def test_the_plugins_own_tests_pass(plugin_folder):
    output = run_node(plugin_folder, "--test", "--test-reporter=tap")
    passed = int(output.split("# pass ")[1].split()[0])
    assert passed > 60


def test_the_plugin_offers_the_same_schemas_as_butlerctl(plugin_folder):
    offered = evaluate(plugin_folder, SCHEMAS, HOUSEHOLD)
    expected = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in household_tools(SHAPE)
    ]
    assert offered == json.loads(json.dumps(expected))


def test_each_schema_has_the_same_text_so_that_the_gateways_hash_of_it_can_be_checked(plugin_folder):
    offered = evaluate(plugin_folder, TEXTS, HOUSEHOLD)
    assert offered == [
        json.dumps(tool.parameters, separators=(",", ":"), ensure_ascii=False)
        for tool in household_tools(SHAPE)
    ]


def test_the_plugin_refuses_exactly_the_arguments_that_butlerctl_refuses(plugin_folder):
    plugin = evaluate(plugin_folder, FAULTS, HOUSEHOLD, CALLS)
    differences = [
        (call, faults)
        for call, faults in zip(CALLS, plugin, strict=True)
        if bool(faults) != bool(faults_of(*call))
    ]
    assert differences == []
    assert {bool(faults) for faults in plugin} == {True, False}


def test_the_plugin_and_butlerctl_make_the_same_of_every_answer(plugin_folder):
    register_secret(SECRET)
    plugin = evaluate(plugin_folder, OBSERVATIONS, ANSWERS, SECRET)
    assert sum("<redacted>" in json.dumps(observation) for observation in plugin) > 20
    assert SECRET[:6] not in json.dumps(plugin)
    own = [
        observe(
            Answer(answer["status"], {"content-type": answer["contentType"]}, answer["text"]), "/webhook/x"
        )
        for answer in ANSWERS
    ]
    differences = [
        (answer, theirs, ours)
        for answer, theirs, ours in zip(ANSWERS, plugin, own, strict=True)
        if theirs != ours
    ]
    assert differences == []


@given(st.lists(st.text(SIGNS, min_size=8, max_size=20), min_size=30, max_size=30, unique=True))
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_plugin_and_butlerctl_mask_the_same_forms_of_a_secret(plugin_folder, secrets):
    texts = [[f"~{written}~" for written in ways_to_write(secret)] for secret in secrets]
    plugin = evaluate(plugin_folder, MASKED, secrets, texts)
    for secret, written, masked in zip(secrets, texts, plugin, strict=True):
        redaction._registered, redaction._registered_forms = set(), None
        register_secret(secret)
        assert masked == [redact_words(text) for text in written]
        assert "~<redacted>~" in masked[0]


def test_the_plugin_and_butlerctl_refuse_the_same_repeats(plugin_folder):
    sessions = ("chat", "agent:butler:cron:a", "agent:butler:cron:a:run:1", "agent:butler:cron:a:run:2")
    tools = ("list_tasks", "add_task", "read_sheet")
    calls = [
        (seconds, session, tool, {"profile": "wife", "title": title})
        for step, seconds in enumerate([*range(0, 120, 4), *range(120, 2400, 120)])
        for number, session in enumerate(sessions)
        for tool in tools
        for title in ("x", "y")
        if (step + number) % (11 if title == "y" else 1) == 0
    ]
    guard = RepeatGuard()
    own = [guard.refusal(session, tool, args, seconds) for seconds, session, tool, args in calls]
    assert evaluate(plugin_folder, REFUSALS, calls) == own
    assert {text.split(":")[0] for text in own} == {
        "", "This very call was made ten times within a minute", "This very call was made three times already",
    }  # fmt: skip


def ways_to_write(secret):
    escaped = json.dumps(secret)[1:-1]
    yield from (secret, escaped, json.dumps(escaped)[1:-1], escaped.replace("/", "\\/"))
    yield from (quote(secret, safe=""), quote_plus(secret), html.escape(secret))
    yield "".join(f"\\u{ord(sign):04X}" if ord(sign) < 0xD800 else sign for sign in secret)
    yield base64.b64encode(f"a{secret}b".encode()).decode()


def faults_of(tool, arguments):
    schema = next(schema for schema in household_tools(SHAPE) if schema.name == tool)
    validator = jsonschema.Draft202012Validator(schema.parameters)
    errors = [error.message for error in validator.iter_errors(arguments)]
    return errors or argument_faults(tool, arguments, SHAPE)


@pytest.mark.parametrize("name", ["package.json", "openclaw.plugin.json", "package-lock.json"])
def test_the_plugins_files_name_no_host(plugin_folder, name):
    assert "://" not in (plugin_folder / name).read_text(encoding="utf-8").replace("^https?://", "")
