from __future__ import annotations

from typing import Any

import pytest

from goldsmith.checks.exchange import dbt, great_expectations
from goldsmith.checks.exchange.reversed import own_settings

RULES: list[dict[str, Any]] = [
    {"type": "not_null", "column": "id"},
    {"type": "unique", "column": "id"},
    {"type": "in_range", "column": "amount", "min": 0, "strict_min": True, "mostly": 0.95},
    {"type": "one_of", "column": "status", "values": ["new", "paid"], "where": "amount > 0"},
    {"type": "regex", "column": "email", "pattern": "^.+@.+$", "severity": "warning"},
    {"type": "row_count", "min": 1, "max": 1000},
    {"type": "mean", "column": "amount", "min": 1, "max": 10},
    {"type": "length", "column": "code", "min": 2, "max": 8},
]


def meaning(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [own_settings(check) for check in checks]


def test_a_suite_read_back_means_the_same() -> None:
    several = {"type": "unique", "columns": ["id", "day"], "ignore": "all"}
    greater = {"type": "compare_columns", "column": "a", "other": "b", "operator": ">="}
    rules = [*RULES, several, greater]
    suite, left = great_expectations.suite_of("orders", rules)

    assert left == []
    assert suite["name"] == "orders"
    assert suite["expectations"][2] == {
        "type": "expect_column_values_to_be_between",
        "kwargs": {"column": "amount", "min_value": 0, "strict_min": True, "mostly": 0.95},
        "meta": {},
        "severity": "critical",
    }
    assert suite["expectations"][3]["kwargs"]["row_condition"] == "amount > 0"
    back = great_expectations.checks_of(suite)
    assert meaning(back) == meaning(rules)
    assert back[3]["where"] == "amount > 0"
    assert back[4]["severity"] == "warning"


def test_what_becomes_of_broken_rows_comes_back_from_a_suite() -> None:
    suite, _ = great_expectations.suite_of(
        "orders", [{"type": "not_null", "column": "id", "on_fail": "quarantine", "max_broken": 3}]
    )
    (back,) = great_expectations.checks_of(suite)
    assert (back["on_fail"], back["max_broken"]) == ("quarantine", 3)


def test_tests_of_dbt_read_back_mean_the_same() -> None:
    schema, left = dbt.schema_of("orders", RULES[:2] + RULES[3:4])

    assert left == []
    assert schema == {
        "version": 2,
        "models": [
            {
                "name": "orders",
                "columns": [
                    {"name": "id", "data_tests": ["not_null", "unique"]},
                    {
                        "name": "status",
                        "data_tests": [
                            {
                                "accepted_values": {
                                    "arguments": {"values": ["new", "paid"]},
                                    "config": {"where": "amount > 0"},
                                }
                            }
                        ],
                    },
                ],
            }
        ],
    }
    (back,) = dbt.checks_of(schema).values()
    assert meaning(back) == meaning(RULES[:2] + RULES[3:4])
    assert back[2]["where"] == "amount > 0"


def test_a_reference_goes_to_dbt_and_back() -> None:
    rule = {"type": "referential", "column": "customer", "to": "customers", "field": "id"}
    schema, left = dbt.schema_of("orders", [rule])

    assert left == []
    (test,) = schema["models"][0]["columns"][0]["data_tests"]
    assert test["relationships"]["arguments"]["to"] == "ref('customers')"
    assert meaning(dbt.checks_of(schema)["orders"]) == meaning([rule])


def test_older_spellings_of_dbt_are_read() -> None:
    schema = {
        "models": [
            {
                "name": "orders",
                "tests": [{"dbt_utils.unique_combination_of_columns":
                           {"combination_of_columns": ["a", "b"]}}],
                "columns": [
                    {"name": "id", "tests": [{"not_null": {"severity": "warn"}}]},
                    {"name": "s", "tests": [{"accepted_values": {"values": ["x"]}}]},
                ],
            }
        ]
    }  # fmt: skip
    found = dbt.checks_of(schema)["orders"]
    assert [check["type"] for check in found] == ["unique", "not_null", "one_of"]
    assert found[1]["severity"] == "warning"


@pytest.mark.parametrize("tool", ["great_expectations", "dbt"])
def test_what_a_tool_cannot_say_is_told(tool: str) -> None:
    rule = {"type": "volume_anomaly"}
    left = (
        great_expectations.suite_of("orders", [rule])[1]
        if tool == "great_expectations"
        else dbt.schema_of("orders", [rule])[1]
    )
    assert left == ["volume_anomaly"]
