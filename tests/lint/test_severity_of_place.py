"""The same fault is an error where n8n meets it, and less where n8n passes it over; a butler's is held to all."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path

import pytest

from butlerctl.workflows.engine import lint_documents

BASE = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))
CRON = {"name": "Every day", "type": "n8n-nodes-base.scheduleTrigger", "parameters": {}}
STEP = {"name": "Step", "type": "n8n-nodes-base.set", "parameters": {"mode": "raw"}}
LAST = {"name": "Last", "type": "n8n-nodes-base.noOp", "parameters": {}}
GOOGLE = "n8n-nodes-base.googleCalendar"
CALENDAR = {"calendar": {"__rl": True, "mode": "id", "value": "ada@example.test"}}


def led(*names):
    """Connections that lead from each node to the next."""
    return {
        source: {"main": [[{"node": target, "type": "main", "index": 0}]]}
        for source, target in pairwise(names)
    }


def severities(nodes, connections, code, **more):
    document = {"name": "a workflow", "nodes": nodes, "connections": connections, **more}
    report = lint_documents({"a.json": document})
    assert not report.crashed
    return [str(finding.severity) for finding in report.findings if finding.code == code]


def faulty(name="Faulty", **changes):
    node = {"name": name, "type": "n8n-nodes-base.airtable", "parameters": {"base": "YOUR_BASE_ID"}}
    return {**node, **changes}


WHERE = {
    "connected": ([CRON, faulty()], led("Every day", "Faulty"), "error"),
    "a trigger by itself": (
        [faulty(type="n8n-nodes-base.airtableTrigger"), CRON, LAST],
        led("Every day", "Last"),
        "error",
    ),
    "nothing is connected": ([CRON, faulty()], {}, "error"),
    "no trigger at all": ([faulty(), LAST], led("Faulty", "Last"), "error"),
    "a torn connection": ([CRON, faulty(), LAST], led("Every day", "Gone", "Last"), "error"),
    "behind a trigger that is switched off": (
        [{**CRON, "disabled": True}, faulty(), CRON | {"name": "Every hour"}, LAST],
        led("Every day", "Faulty") | led("Every hour", "Last"),
        "error",
    ),
    "behind a node of another package": (
        [CRON, LAST, {"name": "Feed", "type": "n8n-nodes-feed.feed", "parameters": {}}, faulty()],
        led("Every day", "Last") | led("Feed", "Faulty"),
        "error",
    ),
    "a tool of a node that runs": (
        [CRON, LAST, faulty()],
        led("Every day", "Last")
        | {"Faulty": {"ai_tool": [[{"node": "Last", "type": "ai_tool", "index": 0}]]}},
        "error",
    ),
    "no connection touches it": ([CRON, LAST, faulty()], led("Every day", "Last"), "warning"),
    "disabled": ([CRON, faulty(disabled=True), LAST], led("Every day", "Faulty", "Last"), "warning"),
    "no trigger leads to it": (
        [CRON, LAST, STEP, faulty()],
        led("Every day", "Last") | led("Step", "Faulty"),
        "warning",
    ),
}


@pytest.mark.parametrize(("nodes", "connections", "severity"), WHERE.values(), ids=WHERE)
@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("BW101", {"credentials": {"airtableTokenApi": {"id": "AIRTABLE_CRED_ID", "name": "a"}}}),
        ("BW102", {"parameters": {"base": "YOUR_BASE_ID"}}),
        ("BW105", {"parameters": {"url": "https://api.haus.test/v1/<Your Account ID>/posts"}}),
    ],
)
def test_a_placeholder_is_an_error_in_what_can_run(nodes, connections, severity, code, changes):
    nodes = [node | changes if node["name"] == "Faulty" else node for node in nodes]
    assert severities(nodes, connections, code) == [severity]


@pytest.mark.parametrize(("nodes", "connections", "severity"), WHERE.values(), ids=WHERE)
def test_a_missing_node_is_an_error_to_what_can_run(nodes, connections, severity):
    reads = {"parameters": {"base": "={{ $('Renamed').first().json.id }}"}}
    nodes = [node | reads if node["name"] == "Faulty" else node for node in nodes]
    found = severities(nodes, connections, "BW403")
    assert found == (
        [] if any(node.get("disabled") and node["name"] == "Faulty" for node in nodes) else [severity]
    )


@pytest.mark.parametrize(
    ("hook", "severity"),
    [
        ({"webhookId": "your-webhook-id-here"}, "warning"),
        ({"parameters": {"path": "YOUR_WEBHOOK_PATH"}}, "warning"),
        ({"parameters": {"path": "<YOUR_WEBHOOK_PATH>"}}, "error"),
        ({"parameters": {"path": "hooks/a", "responseData": "YOUR_ANSWER"}}, "error"),
    ],
)
def test_n8n_serves_a_path_as_it_is(hook, severity):
    webhook = {"name": "Webhook", "type": "n8n-nodes-base.webhook", **hook}
    assert severities([webhook, LAST], led("Webhook", "Last"), "BW102") == [severity]


def test_the_path_of_what_is_no_trigger_is_a_value():
    assert severities(
        [CRON, faulty(parameters={"path": "YOUR_PATH"})], led("Every day", "Faulty"), "BW102"
    ) == ["error"]


CREDENTIAL = {
    "BW103": {"credentials": {}, "parameters": CALENDAR},
    "BW107": {"parameters": CALENDAR},
    "BW109": {
        "parameters": {"calendar": {"__rl": True, "mode": "list", "value": ""}},
        "credentials": {"googleCalendarOAuth2Api": {"id": "VyTMRthI1nxCycWZ", "name": "ada"}},
    },
}


@pytest.mark.parametrize(("code", "google"), CREDENTIAL.items(), ids=CREDENTIAL)
@pytest.mark.parametrize(
    ("connections", "severity"),
    [
        (led("Every day", "Google"), "error"),
        (led("Every day", "Last") | led("Step", "Google"), "error"),
        (led("Every day", "Last") | {"Google": {"main": [[]]}}, "error"),
        (led("Every day", "Last") | {"Google": {}}, "warning"),
        (led("Every day", "Last"), "warning"),
    ],
    ids=["reached", "connected only", "an output left behind", "no output", "not connected"],
)
def test_n8n_checks_every_connected_node_before_an_activation(code, google, connections, severity):
    nodes = [CRON, STEP, LAST, {"name": "Google", "type": GOOGLE, **google}]
    assert severities(nodes, connections, code) == [severity]


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"id": None, "name": "Ada's bot"}, ["error"]),
        ({"id": "", "name": "Ada's bot"}, ["error"]),
        ({"id": "", "name": ""}, ["error"]),
        ({"id": None}, ["error"]),
        ({"name": "Ada's bot"}, ["error"]),
        ({"id": None, "name": "", "__aiGatewayManaged": True}, []),
        ({"id": None, "name": "", "__aiGatewayManaged": False}, ["error"]),
    ],
)
def test_a_credential_without_an_id_is_an_error_whatever_its_name(entry, found):
    bot = {"name": "Bot", "type": "n8n-nodes-base.telegram", "credentials": {"telegramApi": entry}}
    assert severities([CRON, bot], led("Every day", "Bot"), "BW103") == found


CODE = {
    "plain": ("return $('Renamed').all();", ["error"]),
    "caught": (
        "let rows = [];\ntry {\n  rows = $('Renamed').all();\n} catch (e) {\n  rows = [];\n}",
        ["warning"],
    ),
    "caught without a name": ("try { return $items('Renamed'); } catch { return []; }", ["warning"]),
    "thrown again": (
        "try { return $('Renamed').all(); } catch (e) { throw new Error('no rows'); }",
        ["error"],
    ),
    "only finally": ("try { return $('Renamed').all(); } finally { done(); }", ["error"]),
    "before": ("const a = $('Renamed').all();\ntry { b(); } catch (e) { }", ["error"]),
    "behind": ("try { b(); } catch (e) { }\nreturn $('Renamed').all();", ["error"]),
    "in the catch": ("try { b(); } catch (e) { return $('Renamed').all(); }", ["error"]),
    "once caught, once not": (
        "try { $('Renamed').all(); } catch (e) { }\nreturn $('Renamed').all();",
        ["error"],
    ),
    "code in a text": ("const code = \"$('Renamed').all()\"; return [];", []),
    "a template of code": ("return names.map(name => `see $('${name}')`);", []),
    "looked for in a text": ("return text.includes('$(') || text.includes(')');", []),
    "an emoji in escapes": (r"return $('\ud83d\udd27 Mend').all();", []),
    "one code point in an escape": (r"return $('\u{1f527} Mend').all();", []),
    "another emoji in escapes": (r"return $('\ud83d\udd28 Mend').all();", ["error"]),
    "an escaped quote": (r"return $('Ada\'s step').all();", []),
}


@pytest.mark.parametrize(("code", "found"), CODE.values(), ids=CODE)
def test_what_code_reads_from(code, found):
    nodes = [
        CRON,
        {"name": "\N{WRENCH} Mend", "type": "n8n-nodes-base.noOp", "parameters": {}},
        {"name": "Ada's step", "type": "n8n-nodes-base.noOp", "parameters": {}},
        {"name": "Code", "type": "n8n-nodes-base.code", "parameters": {"jsCode": code}},
    ]
    connections = led("Every day", "\N{WRENCH} Mend", "Ada's step", "Code")
    assert severities(nodes, connections, "BW403") == found


def test_a_quote_that_ends_a_reference_is_named():
    code = {
        "name": "Code",
        "type": "n8n-nodes-base.set",
        "parameters": {"value": "={{ $('Ada's step').item.json.id }}"},
    }
    step = {"name": "Ada's step", "type": "n8n-nodes-base.noOp", "parameters": {}}
    document = {"nodes": [CRON, step, code], "connections": led("Every day", "Ada's step", "Code")}
    found = [item for item in lint_documents({"a.json": document}).findings if item.code == "BW403"]
    assert [(str(item.severity), item.message, item.help) for item in found] == [
        (
            "error",
            'the quote in "Ada\'s step" ends the reference to this node',
            "put a backslash before the quote",
        )
    ]


PINNED = {
    "an address": ("Ada <ada@haus.test>", "warning", "with an e-mail address"),
    "an address beside an icon": ("icon@2x.png, ada@haus.test", "warning", "with an e-mail address"),
    "an icon": ("https://haus.test/icon@2x.png", "warning", ""),
    "a chat id": ("4915100000000@s.whatsapp.net", "warning", ""),
    "a token": ("ghp_" + "x7Kq2Lm9Rt4Vb8Nc3Hd6" + "Fg1Js5Pw0Zy4Au7T", "error", "with a token"),
    "neither": ("hello", "warning", ""),
}


@pytest.mark.parametrize(("text", "severity", "words"), PINNED.values(), ids=PINNED)
def test_pinned_data_outside_a_butler(text, severity, words):
    document = {
        "name": "a workflow",
        "nodes": [CRON, LAST],
        "connections": led("Every day", "Last"),
        "pinData": {"Last": [{"json": {"value": text}}]},
    }
    found = [item for item in lint_documents({"a.json": document}).findings if item.code == "BW502"]
    assert [str(item.severity) for item in found] == [severity]
    assert found[0].message == f'pinned data of "Last"{", " * bool(words)}{words}'


def changed(change):
    document = copy.deepcopy(BASE)
    change(document)
    return document


def google_of(document):
    return next(node for node in document["nodes"] if node["type"] == GOOGLE)


def loose(document):
    document["nodes"].append({"name": "Aside", "type": GOOGLE, "parameters": CALENDAR})


def loose_placeholder(document):
    document["nodes"].append(faulty())


def catching(document):
    code = "try { $('Renamed').all(); } catch (e) { }\nreturn $input.all();"
    document["nodes"].append({"name": "Aside", "type": "n8n-nodes-base.code", "parameters": {"jsCode": code}})


BUTLERS = {
    "BW103": lambda d: google_of(d)["credentials"]["googleCalendarOAuth2Api"].update(id=""),
    "BW107": loose,
    "BW102": loose_placeholder,
    "BW403": catching,
    "BW502": lambda d: d.update(pinData={"Webhook": [{"json": {"from": "ada@example.test"}}]}),
}


@pytest.mark.parametrize(("code", "change"), BUTLERS.items(), ids=BUTLERS)
def test_in_a_butler_s_workflow_it_stays_an_error(code, change):
    report = lint_documents({"a.json": changed(change)})
    assert {str(item.severity) for item in report.findings if item.code == code} == {"error"}
