"""The rule sets of examples/checks are checks of ours, whatever tool they are written for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from goldsmith.checks.aliases.translate import names, translated
from goldsmith.checks.check import CHECKS
from goldsmith.checks.planned_check import plan_one

RULES = Path(__file__).parents[3] / "examples" / "checks" / "rules.yaml"
ENTRIES = [
    pytest.param(entry, id=f"{rules['rule_set_id']}-{index}")
    for rules in yaml.safe_load(RULES.read_text("utf-8"))["validation_rules"]
    for index, entry in enumerate(rules["check_def"])
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_can_be_planned(entry: dict[str, Any]) -> None:
    assert plan_one(entry).check.name in CHECKS


@pytest.mark.parametrize(("tool", "name", "to"), [(t, n, alias.to) for t, n, alias in names()])
def test_an_alias_leads_to_a_check_and_to_settings_it_has(tool: str, name: str, to: str) -> None:
    check = CHECKS.get(to)
    ours = translated({"type": f"{tool}.{name}", "meta": {}, "tags": ["x"]})
    unknown = [problem for problem in check.problems(ours) if "has no setting" in problem]
    assert ours["type"] == to
    assert unknown == []


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        (
            {
                "type": "expect_column_values_to_be_between",
                "kwargs": {"column": "a", "min_value": 1, "strict_min": True},
                "meta": {"x": 1},
            },
            {"type": "in_range", "column": "a", "min": 1, "strict_min": True},
        ),
        (
            {
                "type": "ExpectColumnPairValuesAToBeGreaterThanB",
                "column_A": "a",
                "column_B": "b",
                "or_equal": True,
            },
            {
                "type": "compare_columns",
                "column": "a",
                "other": "b",
                "operator": ">=",
                "ignore": "all",
            },
        ),
        (
            {
                "type": "expect_column_values_to_not_be_null",
                "column": "a",
                "row_condition": 'col("b.c") > 5 and col("d").notNull()',
                "condition_parser": "great_expectations",
            },
            {"type": "not_null", "column": "a", "where": "`b`.`c` > 5 and `d` IS NOT NULL"},
        ),
        (
            {"type": "relationships", "column_name": "a", "to": "ref('dim')", "field": "id"},
            {"type": "referential", "column": "a", "to": "dim", "field": "id"},
        ),
        (
            {
                "type": "dbt_utils.accepted_range",
                "column_name": "a",
                "min_value": 0,
                "max_value": "current_date",
                "inclusive": False,
                "config": {"severity": "warn", "where": "b"},
            },
            {
                "type": "in_range",
                "column": "a",
                "min": 0,
                "max": {"sql": "current_date"},
                "strict_min": True,
                "strict_max": True,
                "severity": "warning",
                "where": "b",
            },
        ),
    ],
)
def test_settings_are_read_as_ours(entry: dict[str, Any], ours: dict[str, Any]) -> None:
    assert translated(entry) == ours
