"""inventory.yaml: what is wrong with it is said in one line with file, line and key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from butlerctl.errors import ExitCode, InventoryError, SecretMissing
from butlerctl.inventory.loader import find_inventory, load_inventory

SHIPPED = Path(__file__).parents[2] / "inventory.yaml"


def load(text: str, tmp_path: Path, environ: dict[str, str] | None = None):
    file = tmp_path / "inventory.yaml"
    file.write_text(text, encoding="utf-8")
    return load_inventory(file, environ or {})


def changed(old: str, new: str) -> str:
    text = SHIPPED.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def test_the_shipped_inventory_has_twelve_routes_in_the_order_of_the_file():
    inventory = load_inventory(SHIPPED, {})
    assert len(inventory.routes) == 12
    assert str(inventory.routes[0]) == "calendar_list/husband"
    assert inventory.routes[3].webhook_path(inventory.n8n.webhook.prefix) == "L4CK3Y/calendar/add/wife"
    assert inventory.routes[3].workflow_file == "calendar_add_wife.json"


def test_the_shipped_inventory_documents_and_binds_every_placeholder():
    placeholders = load_inventory(SHIPPED, {}).workflows.placeholders
    assert len(placeholders) == 5
    assert all(
        item.meaning and item.value and item.value.variable == item.token for item in placeholders.values()
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("timezone: America/New_York", "timezone: Mars/Base", "inventory.yaml:5: timezone: 'Mars/Base' is no time zone"),
        ("  agent: butler", "  agnet: butler", "gateway.agnet: unknown key; did you mean agent?"),
        ("version: 1", "version: 2", "version: '2' must be one of 1"),
        ("  url: ${N8N_URL}", "  url: n8n.example.test", "must begin with http:// or https://"),
        ("  url: ${N8N_URL}", "  url: [a]", "n8n.url: must be text"),
        ("calendar_list, calendar_add", "calendar_list, calendar_list", "operations: names something twice"),
        ("[calendar_list,", "[calendar_lost,", "operations: 'calendar_lost' must be one of calendar_list"),
        ("    timeout: 15 #", "    timeout: soon #", "n8n.webhook.timeout: must be a number"),
        ("    timeout: 15 #", "    timeout: 0 #", "n8n.webhook.timeout: must be between 0.1 and 300"),
        ("verify_tab: butler verify #", "verify_tab: Lgo #", "verify_tab: must be one of the tabs: Log, butler verify"),
        ("api_key: ${N8N_API_KEY}", "api_key: n8n-plain", "n8n.api_key: a secret must be a reference"),
        ("  husband:", "  hus/band:", "a profile's name is letters"),
        ("pins:\n", "pins:\npins:\n", "pins: stands here twice"),
        ("operations: [", "operations: {", "no YAML"),
    ],
)  # fmt: skip
def test_a_wrong_inventory_gets_one_line_with_file_line_and_key(old, new, expected, tmp_path):
    with pytest.raises(InventoryError) as caught:
        load(changed(old, new), tmp_path)
    assert expected in caught.value.message
    assert caught.value.message.startswith("inventory.yaml:")
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == ExitCode.BAD_INPUT


@pytest.mark.parametrize("text", ["", "[]", "just text", "a: &x [*x, *y]"])
def test_a_file_that_is_no_mapping_is_refused(text, tmp_path):
    with pytest.raises(InventoryError):
        load(text, tmp_path)


LEAST = """
version: 1
timezone: Europe/Berlin
gateway: {url: "${GATEWAY}"}
n8n: {url: "${N8N}"}
profiles:
  anna:
    calendar: anna@example.test
    task_lists: {Household: list-1}
    spreadsheet: {id: sheet-1, columns: [item], tabs: [verify], verify_tab: verify}
workflows: {}
"""


def test_what_the_page_says_may_be_left_out(tmp_path):
    least = load(LEAST, tmp_path)
    shipped = load_inventory(SHIPPED, {})
    assert (least.google_url, least.gateway.token, least.n8n.api_key, least.n8n.webhook.secret) == (None,) * 4
    assert least.profiles["anna"].google_token is None
    assert least.operations == shipped.operations
    assert (least.gateway.kind, least.gateway.agent, least.gateway.timeout) == ("openclaw", "butler", 60)
    assert replace(least.n8n.webhook, prefix="L4CK3Y") == replace(shipped.n8n.webhook, secret=None)
    assert least.n8n.webhook.prefix == ""
    assert (least.workflows.directory, least.workflows.expect_active) == (tmp_path / "workflows", "warn")


def test_a_literal_secret_is_refused_without_being_shown(tmp_path):
    with pytest.raises(InventoryError) as caught:
        load(changed("secret: ${N8N_WEBHOOK_SECRET}", "secret: hunter2-hunter2"), tmp_path)
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_a_reference_is_followed_only_when_the_value_is_asked_for(tmp_path):
    inventory = load(SHIPPED.read_text(encoding="utf-8"), tmp_path, {"N8N_URL": "http://127.0.0.1:5678"})
    assert inventory.n8n.url.get() == "http://127.0.0.1:5678"
    with pytest.raises(SecretMissing, match="has no OPENCLAW_GATEWAY_URL"):
        inventory.gateway.url.get()


def test_a_default_stands_in_for_a_variable_that_is_not_set(tmp_path):
    inventory = load(changed("${N8N_URL}", "${N8N_URL:-http://127.0.0.1:1}"), tmp_path)
    assert inventory.n8n.url.get() == "http://127.0.0.1:1"
    assert inventory.google_url is not None
    assert inventory.google_url.get() == ""


def test_a_secret_can_lie_in_a_file_beside_the_inventory(tmp_path):
    (tmp_path / "key").write_text("from-a-file\n", encoding="utf-8")
    inventory = load(changed("${N8N_API_KEY}", "file:key"), tmp_path)
    assert inventory.n8n.api_key is not None
    assert inventory.n8n.api_key.get() == "from-a-file"


def test_a_missing_secret_file_is_named_with_its_place_in_the_inventory(tmp_path):
    inventory = load(changed("${N8N_API_KEY}", "file:nowhere"), tmp_path)
    assert inventory.n8n.api_key is not None
    with pytest.raises(SecretMissing, match=r"inventory.yaml:\d+: n8n.api_key: cannot read file:nowhere"):
        inventory.n8n.api_key.get()


def test_any_number_of_profiles_and_any_prefix(tmp_path):
    text = changed("prefix: L4CK3Y", "prefix: /haus/butler/")
    child = text[text.index("  wife:") : text.index("workflows:")].replace("  wife:", "  kind-2:")
    inventory = load(text.replace("workflows:\n", child + "workflows:\n", 1), tmp_path)
    assert list(inventory.profiles) == ["husband", "wife", "kind-2"]
    assert len(inventory.routes) == 18
    assert (
        inventory.routes[2].webhook_path(inventory.n8n.webhook.prefix) == "haus/butler/calendar/list/kind-2"
    )


def test_the_inventory_is_found_upwards(tmp_path):
    load(SHIPPED.read_text(encoding="utf-8"), tmp_path)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_inventory(below) == tmp_path.resolve() / "inventory.yaml"


def test_a_folder_instead_of_a_file_is_one_clear_line(tmp_path):
    with pytest.raises(InventoryError, match="cannot be read"):
        load_inventory(tmp_path, {})
