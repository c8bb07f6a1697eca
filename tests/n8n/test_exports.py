"""The twelve shipped exports: alike, complete, and their JavaScript as strict as the tool schemas."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.lab.n8n.contract import ScriptError, check_input, constants_of, format_response
from butlerctl.lab.n8n.expressions import evaluate
from butlerctl.workflows.template import SHIPPED, exports, main, workflow
from butlerctl.workflows.template_nodes import check_script, format_script

ROOT = Path(__file__).parents[2]
HUSBAND = SHIPPED.people[0]


class CodeNode:
    """A node process that runs Code node scripts, one case a line."""

    def __init__(self) -> None:
        program = shutil.which("node")
        if program is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("needs node")
        self._process = subprocess.Popen(
            [program, str(Path(__file__).with_name("code_node.mjs"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, script: str, input_: list[Any], nodes: dict[str, Any] | None = None) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(
            json.dumps({"script": script, "input": input_, "nodes": nodes or {}}) + "\n"
        )
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def code_node() -> Iterator[CodeNode]:
    process = CodeNode()
    yield process
    process.close()


@pytest.mark.parametrize("name", sorted(exports()))
def test_a_shipped_export_is_what_the_template_writes(name):
    assert (ROOT / "workflows" / name).read_text(encoding="utf-8") == exports()[name]


def test_the_workflows_folder_holds_the_twelve_and_nothing_else():
    assert sorted(path.name for path in (ROOT / "workflows").iterdir()) == sorted(exports())


def test_the_template_command_names_a_file_that_differs_and_writes_it_again(tmp_path, capsys):
    assert main(["--write", str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    (tmp_path / "calendar_add_wife.json").write_text("{}")
    capsys.readouterr()
    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{tmp_path / 'calendar_add_wife.json'}: differs from the template\n"


def test_the_exports_hold_ten_placeholders_one_for_each_token_and_file():
    found = {
        (token, name) for name, text in exports().items() for token in re.findall(r"<([A-Z_]{3,})>", text)
    }
    assert sorted(found) == [
        ("HUSBAND_TASKS_LIST_ID", "tasks_add_husband.json"),
        ("HUSBAND_TASKS_LIST_ID", "tasks_list_husband.json"),
        ("WIFE_CALENDAR_CRED_ID", "calendar_add_wife.json"),
        ("WIFE_CALENDAR_CRED_ID", "calendar_list_wife.json"),
        ("WIFE_SHEETS_CRED_ID", "sheets_append_wife.json"),
        ("WIFE_SHEETS_CRED_ID", "sheets_read_wife.json"),
        ("WIFE_SPREADSHEET_ID", "sheets_append_wife.json"),
        ("WIFE_SPREADSHEET_ID", "sheets_read_wife.json"),
        ("WIFE_TASKS_CRED_ID", "tasks_add_wife.json"),
        ("WIFE_TASKS_CRED_ID", "tasks_list_wife.json"),
    ]


def test_no_export_is_active_or_carries_pinned_data_an_owner_or_an_instance():
    for text in exports().values():
        document = json.loads(text)
        assert document["active"] is False
        assert not {"pinData", "shared", "staticData"} & document.keys()
        assert "instanceId" not in text


def test_no_expression_holds_two_closing_braces_before_its_end():
    for text in exports().values():
        for expression in re.findall(r'"(={{(?:[^"\\]|\\.)*)"', text):
            assert expression.count("}}") == 1, expression


def test_two_people_share_no_credential_and_no_credential_name():
    seen: dict[str, set[str]] = {}
    for route, person in SHIPPED.routes:
        for node in workflow(route, person)["nodes"]:
            for kind, credential in node.get("credentials", {}).items():
                if kind != "httpHeaderAuth":
                    seen.setdefault(route.profile, set()).update(credential.values())
    assert not seen["husband"] & seen["wife"]


def test_a_person_with_two_task_lists_gets_the_one_that_was_asked_for():
    both = {"Household": "list-1", "Work": "list-2"}
    person = HUSBAND.__class__(HUSBAND.name, HUSBAND.calendar, both, HUSBAND.spreadsheet, HUSBAND.credentials)
    route = next(route for route, _ in SHIPPED.routes if route.operation == "tasks_add")
    google = next(node for node in workflow(route, person)["nodes"] if node["name"] == "Google Tasks")
    assert (
        google["parameters"]["task"] == '={{ ({"Household": "list-1", "Work": "list-2"})[$json.args.list] }}'
    )


# Characters on which JavaScript and Python disagree about white space are left out.
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x1c\x1d\x1e\x1f\x85\ufeff"), max_size=6)
_INSTANT = st.one_of(
    st.from_regex(
        r"\A20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?(Z|[+-][01][0-9]:[0-7][0-9])\Z"
    ),
    st.sampled_from(
        ["2026-02-30T10:00:00Z", "0000-01-01T00:00Z", "2026-01-01T24:00:00Z", "tomorrow", "2026-01-01"]
    ),
    st.datetimes().map(lambda moment: moment.isoformat(timespec="milliseconds") + "+02:00"),
)
_DAY = st.one_of(
    st.from_regex(r"\A20[0-9]{2}-[01][0-9]-[0-3][0-9]\Z"),
    st.dates().map(str),
    st.sampled_from(["0000-01-01", "soon", "2026-02-29", "2028-02-29", "2026-2-9", ""]),
)
_CELL = st.one_of(_TEXT, st.integers(-5, 5), st.sampled_from(["=A1", " +1", "@x", "-3", "3.10"]), st.none())
_ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _TEXT
)
_FIELD = {
    "start": _INSTANT,
    "end": _INSTANT,
    "limit": st.one_of(st.integers(-1, 600), st.just(5.0), st.just("5")),
    "summary": _TEXT,
    "title": _TEXT,
    "category": _TEXT,
    "due": _DAY,
    "list": st.sampled_from(["Household", "household", "Work", ""]),
    "sheet": st.sampled_from(["Log", "butler verify", "log", ""]),
    "values": st.lists(_CELL, min_size=2, max_size=4),
    "profile": st.just("wife"),
}


def _bodies(operation: str) -> st.SearchStrategy[Any]:
    allowed = set(constants_of(check_script(operation, HUSBAND))["ALLOWED"])
    fields = {key: st.one_of(value, value, value, _ODD) for key, value in _FIELD.items() if key in allowed}
    odd = {"profile": _ODD, "__proto__": _ODD, "constructor": _ODD}
    likely = st.fixed_dictionaries({}, optional=fields)
    return st.one_of(
        likely, likely, st.fixed_dictionaries(fields, optional=odd), _ODD, st.lists(_ODD, max_size=2)
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_input_check_in_javascript_is_the_one_of_the_tool_schemas(operation, code_node):
    script = check_script(operation, HUSBAND)

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(_bodies(operation))
    def compare(body):
        (got,) = code_node.run(script, [{"body": body}])["items"]
        want = check_input(operation, body, constants_of(script))
        if operation == "calendar_list" and not {"start", "end"} <= set(
            body if isinstance(body, dict) else ()
        ):
            got["args"].pop("start", None), want["args"].pop("start", None)  # the window begins now
            got["args"].pop("end", None), want["args"].pop("end", None)
        assert got == want

    compare()


@pytest.mark.parametrize(
    ("operation", "items"),
    [
        (
            "calendar_add",
            [{"id": "e1", "summary": "Dentist", "start": {"dateTime": "x"}, "status": "confirmed"}],
        ),
        ("calendar_add", [{"id": "e1", "status": "cancelled"}]),
        ("calendar_add", [{}]),
        (
            "tasks_add",
            [{"id": "t1", "title": "Milk", "due": "2026-07-05T00:00:00.000Z", "status": "needsAction"}],
        ),
        ("tasks_add", [{"title": "Milk"}]),
        ("calendar_list", [{}]),
        ("calendar_list", [{"id": "e1", "start": {"date": "2026-07-04"}}, {"id": "e2", "summary": "x"}]),
        ("calendar_list", [{"summary": "no id"}]),
        ("tasks_list", [{}]),
        ("tasks_list", [{"id": "t1", "title": "a"}, {"id": "t2", "title": "b"}, {"id": "t3", "title": "c"}]),
        ("tasks_list", [{"title": "no id"}]),
        ("sheets_read", [{}]),
        ("sheets_read", [{"row_number": 2, "date": "2026-07-04", "item": "milk", "amount": 3.1}]),
        ("sheets_append", [{"row_number": 7, "date": "2026-07-04", "item": "milk", "amount": 3.1}]),
        ("sheets_append", [{"row_number": 7, "date": "2026-07-05", "item": "milk", "amount": 3.1}]),
        ("sheets_append", [{}]),
    ],
)
@pytest.mark.parametrize("failed", [[], [{"error": "Forbidden"}], None])
def test_the_formatter_in_javascript_is_the_one_of_the_stand_in(operation, items, failed, code_node):
    script = format_script(operation, HUSBAND)
    constants = constants_of(script)
    args = {"start": "a", "end": "b", "limit": 2, "sheet": "Log", "values": ["2026-07-04", "milk", "3.10"]}
    outputs = [items] if failed is None else [items, failed]
    got = code_node.run(
        script, items, {constants.get("SOURCE", ""): outputs, "Check input": [[{"args": args}]]}
    )
    try:
        want: dict[str, Any] = {
            "items": format_response(operation, items, failed, args, constants.get("COLUMNS", ()))
        }
    except ScriptError as error:
        want = {"error": str(error)}
    assert got == want


def _respond_bodies() -> list[tuple[str, str]]:
    return [
        (f"{name}: {node['name']}", node["parameters"]["responseBody"])
        for name, text in exports().items()
        if name.endswith("_wife.json")
        for node in json.loads(text)["nodes"]
        if node["type"].endswith("respondToWebhook")
    ]


@pytest.mark.parametrize(("where", "body"), _respond_bodies())
def test_an_answer_of_the_exports_is_the_same_in_javascript_and_in_the_lab(where, body, code_node):
    for item in (
        {"data": {"id": "x", "n": [1, 2.5, None]}, "bad": ["a: b"], "error": 'Sheet with name "x" not found'},
        {"error": {"message": "The service is receiving too many requests from you"}},
        {},
    ):
        script = "const $json = $input.first().json, $execution = { id: '7' };\n"
        expression = body.removeprefix("={{").removesuffix("}}")
        got = code_node.run(f"{script}return [{{ json: {{ text: {expression} }} }}];", [item])
        assert got["items"][0]["text"] == evaluate(body, {"$json": item, "$execution": {"id": "7"}}), where
