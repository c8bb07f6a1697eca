"""Every rule, on its own fixtures: silent on what lies in pass/, and heard on what lies in fail/.

A fixture is a file, or a folder that is linted as one set; a folder with an inventory brings its household.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.workflows.engine import lint_paths
from butlerctl.workflows.household import household_of
from butlerctl.workflows.rules.registry import RULES
from butlerctl.workflows.settings import LintSettings

FIXTURES = Path(__file__).parent / "fixtures"


def fixtures(kind):
    return [
        pytest.param(rule.code, fixture, id=f"{rule.code}-{fixture.stem}")
        for rule in RULES
        for fixture in sorted((FIXTURES / rule.code / kind).iterdir())
    ]


def codes_of(fixture):
    household = None
    if (fixture / "inventory.yaml").is_file():
        household = household_of(load_inventory(fixture / "inventory.yaml", {}))
        fixture = fixture / "workflows"
    report = lint_paths([fixture], LintSettings(pedantic=True, household=household))
    assert not report.crashed
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize(("code", "fixture"), fixtures("fail"))
def test_a_rule_is_heard_on_what_it_is_for(code, fixture):
    assert code in codes_of(fixture)


@pytest.mark.parametrize(("code", "fixture"), fixtures("pass"))
def test_a_rule_is_silent_on_what_is_well(code, fixture):
    assert code not in codes_of(fixture)


def test_each_rule_has_its_own_code_in_the_order_of_the_registry():
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert {path.name for path in FIXTURES.iterdir()} == set(codes)


def test_each_rule_lives_in_a_module_of_its_own_that_the_registry_names():
    folder = Path(__file__).parents[2] / "butlerctl" / "workflows" / "rules"
    assert {path.stem[:5].upper() for path in folder.glob("bw*.py")} == {rule.code for rule in RULES}
