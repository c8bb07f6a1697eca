"""The stand-in's expressions, held to JavaScript itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from butlerctl.lab.n8n.expressions import (
    ExpressionError,
    Unsupported,
    evaluate,
    read_script,
    resolve,
    to_json,
)
from butlerctl.workflows.template import exports
from butlerctl.workflows.template_nodes import GOOGLE_REASONS

SCOPE = {"$json": {"a": {"b": [1, 2.5, "x"]}, "error": "Forbidden - perhaps", "n": None, "e": []}, "k": "b"}
EXPRESSIONS = [
    "$json.a.b[2]",
    "$json.a[k].length",
    "$json.missing?.message ?? $json.error ?? 'failed'",
    "$json.n ?? 'none'",
    "$json.e ? 'list' : 'nothing'",
    "$json.missing ? 1 : 2",
    "JSON.stringify({ ok: true, data: $json.gone, 'q': [-1, 3.0, null], k })",
    "[['For', 'x'], ['y', 'z']].find(pair => String($json.error).includes(pair[0]))[1]",
    "$json.a.b.filter(v => v).map(v => [v])",
    "Object.keys($json.a)",
    "'it\\'s \"so\"'",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_means_what_it_means_in_javascript(text):
    program = shutil.which("node")
    if program is None:
        pytest.skip("needs node")
    source = (
        f"const $json = {json.dumps(SCOPE['$json'])}, k = {json.dumps(SCOPE['k'])};"
        f"console.log(JSON.stringify({text}))"
    )
    want = subprocess.run([program, "-e", source], capture_output=True, text=True, check=True).stdout
    assert to_json(evaluate(f"={{{{ {text} }}}}", SCOPE)) == want.rstrip("\n")


def test_text_around_an_expression_is_kept():
    assert evaluate("=a {{ $json.a.b[0] }} c {{ k }}", SCOPE) == "a 1 c b"
    assert evaluate("{{ k }}", SCOPE) == "{{ k }}"
    assert resolve({"x": ["={{ k }}"], "n": 1}, SCOPE) == {"x": ["b"], "n": 1}


@pytest.mark.parametrize(
    "text", ["a + b", "(() => 1)()", "`x`", "a ==", "for", "x;", "{ a b }", "process.exit(1"]
)
def test_what_is_not_supported_is_refused_not_guessed(text):
    with pytest.raises((Unsupported, ExpressionError)):
        evaluate(f"={{{{ {text} }}}}", {"a": 1})


def test_a_property_of_nothing_throws_as_in_javascript():
    with pytest.raises(ExpressionError, match=r"Cannot read properties of undefined \(reading 'x'\)"):
        evaluate("={{ $json.gone.x }}", SCOPE)


def test_a_script_of_constants_and_a_return_runs():
    script = read_script("const r = $json.a;\nreturn [{ json: { ok: true, r } }];")
    assert script.run(SCOPE) == [{"json": {"ok": True, "r": SCOPE["$json"]["a"]}}]


def test_a_script_that_throws_says_its_text():
    with pytest.raises(ExpressionError, match="boom"):
        read_script("throw new Error('boom');").run({})


def test_a_script_with_a_loop_is_unsupported():
    with pytest.raises(Unsupported):
        read_script("for (const x of y) z(x);\nreturn [];")


def test_the_exports_give_every_known_failure_of_google_its_reason():
    (body,) = re.findall(
        r'"(={{ JSON.stringify\([^"]*stage: \'request\'[^"]*}})"', exports()["tasks_add_wife.json"]
    )
    for words, reason in GOOGLE_REASONS:
        scope = {"$json": {"error": f"x {words} y"}, "$execution": {"id": "7"}}
        assert json.loads(evaluate(body, scope))["error"]["reason"] == reason
    unknown = evaluate(body, {"$json": {"error": {"message": "never seen"}}, "$execution": {"id": "7"}})
    assert json.loads(unknown)["error"] == {
        "code": "google_error",
        "message": "never seen",
        "reason": "unknown",
        "operation": "tasks_add",
        "profile": "wife",
        "stage": "request",
    }
