"""What the linter loads: a commit hook pays for every module on each start."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = sorted((ROOT / "butlerctl" / "workflows" / "rules").glob("*.py"))
HEAVY = """
    httpx googleapiclient google rich pydantic cryptography securesystemslib asyncio jsonschema werkzeug
    rfc8785 importlib.metadata pkg_resources sqlite3 ssl
"""


@pytest.fixture
def modules_after(tmp_path):
    """The modules that a run of lint-workflows on the shipped exports has imported."""

    def run(*arguments):
        program = (
            "import sys, butlerctl.cli.app as app\n"
            f"app.run(['lint-workflows', *{list(arguments)!r}])\n"
            "print('\\n'.join(sys.modules), file=sys.stderr)"
        )
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
        result = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environ, capture_output=True, text=True, check=True
        )
        return set(result.stderr.split())

    return run


@pytest.mark.parametrize("format_", ["full", "json", "concise", "sarif"])
def test_no_client_and_no_heavy_library_is_loaded(modules_after, format_):
    assert not set(HEAVY.split()) & modules_after("--format", format_)


def test_yaml_is_loaded_only_while_the_inventory_is_new(modules_after):
    first, second = modules_after(), modules_after()
    assert "yaml" in first
    assert not {"yaml", "butlerctl.inventory.loader", "butlerctl.redaction"} & second


def test_only_the_packages_that_the_linter_needs_are_loaded(modules_after):
    modules_after()
    ours = {name for name in modules_after() if name.startswith("butlerctl.")}
    packages = {name.split(".")[1] for name in ours}
    assert packages == {"cli", "errors", "inventory", "workflows"}
    assert not {name for name in ours if ".formats." in name} - {"butlerctl.workflows.formats.full"}


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_a_rule_module_builds_no_dataclass_and_no_pattern_when_it_is_imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
            assert not {"re", "dataclasses"} & set(names)
    top = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    calls = [node for item in top for node in ast.walk(item) if isinstance(node, ast.Call)]
    assert all("compile" not in ast.unparse(call.func) for call in calls)
