from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS
from goldsmith.checks.exchange import dbt, great_expectations
from goldsmith.checks.exchange.reverse_alias import own_settings

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
    back, unknown = great_expectations.checks_of(suite)
    assert unknown == []
    assert meaning(back) == meaning(rules)
    assert back[3]["where"] == "amount > 0"
    assert back[4]["severity"] == "warning"


def test_what_becomes_of_broken_rows_comes_back_from_a_suite() -> None:
    suite, _ = great_expectations.suite_of(
        "orders", [{"type": "not_null", "column": "id", "on_fail": "quarantine"}]
    )
    (back,), _ = great_expectations.checks_of(suite)
    assert back["on_fail"] == "quarantine"


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
    (back,) = dbt.checks_of(schema)[0].values()
    assert meaning(back) == meaning(RULES[:2] + RULES[3:4])
    assert back[2]["where"] == "amount > 0"


def test_a_reference_goes_to_dbt_and_back() -> None:
    rule = {"type": "referential", "column": "customer", "to": "customers", "field": "id"}
    schema, left = dbt.schema_of("orders", [rule])

    assert left == []
    (test,) = schema["models"][0]["columns"][0]["data_tests"]
    assert test["relationships"]["arguments"]["to"] == "ref('customers')"
    assert meaning(dbt.checks_of(schema)[0]["orders"]) == meaning([rule])


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
    found = dbt.checks_of(schema)[0]["orders"]
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


SEVERITIES = ("critical", "warning", "info")
EVERYTHING: list[dict[str, Any]] = [
    {"type": "not_null", "column": "id", "severity": "warning", "on_fail": "quarantine"},
    {"type": "not_null", "column": "id", "where": "amount > 0", "name": "id_of_sold"},
    {"type": "unique", "columns": ["id", "day"], "nulls": "equal", "scope": "table"},
    {"type": "referential", "column": "customer", "to": "customers"},
    {"type": "equal_rowcount", "to": "silver.orders"},
    {"type": "in_range", "column": "amount", "min": 0, "max_broken": 3},
    {"type": "one_of", "column": "status", "values": [1, 2], "mostly": 0.9},
    {"type": "null_rate", "column": "code", "max": 0.1},
    {"type": "not_null", "column": "code", "per": ["day"]},
    {"type": "row_count", "min": 1, "severity": "info"},
    {
        "type": "kl_divergence",
        "column": "status",
        "values": ["a", "b"],
        "weights": [0.5, 0.5],
        "max": 0.1,
        "tail_holdout": 0.01,
    },
    {"type": "json_schema", "column": "payload", "schema": {"type": "object"}},
]


def full(check: Mapping[str, Any], severity: str) -> dict[str, Any]:
    """Everything that decides what a check does, defaults filled in."""
    every = {name: check.get(name) for name in ("where", "max_broken", "per", "on_fail", "scope")}
    settings = own_settings(check)
    if settings["type"] == "referential":
        settings.setdefault("field", settings.get("column"))
    if settings["type"] == "unique" and "column" in settings:
        settings["columns"] = [settings.pop("column")]
    return {**settings, **every, "severity": check.get("severity", severity)}


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("tool", ["great_expectations", "dbt"])
@pytest.mark.parametrize("rule", EVERYTHING, ids=lambda rule: str(rule["type"]))
def test_a_check_comes_back_from_a_tool_as_it_was_or_is_left_out_by_name(
    tool: str, rule: dict[str, Any], severity: str
) -> None:
    if tool == "dbt":
        schema, left = dbt.schema_of("orders", [rule], severity=severity)
        back, unknown = dbt.checks_of(schema)
        checks = back["orders"]
    else:
        suite, left = great_expectations.suite_of("orders", [rule], severity=severity)
        checks, unknown = great_expectations.checks_of(suite)
    assert unknown == []
    assert len(checks) + len(left) == 1
    assert all(str(rule["type"]) in check for check in left)
    # The tool's file says the severity itself: the rule set it becomes has the default.
    assert [full(check, "critical") for check in checks] == [full(rule, severity)] * len(checks)


def test_dbt_is_told_the_column_a_reference_goes_to() -> None:
    schema, _ = dbt.schema_of("orders", [{"type": "referential", "column": "c", "to": "customers"}])
    (test,) = schema["models"][0]["columns"][0]["data_tests"]
    assert test["relationships"]["arguments"] == {"to": "ref('customers')", "field": "c"}


def test_a_severity_that_dbt_has_no_word_for_is_left_out_by_name() -> None:
    rule = {"type": "not_null", "column": "id"}
    assert dbt.schema_of("orders", [rule], severity="info")[1] == [
        "not_null of id with severity info"
    ]


@pytest.mark.parametrize(
    ("expectation", "named"),
    [
        ({"type": "expect_column_to_be_nice", "kwargs": {"column": "a"}}, "no check of that name"),
        ({"type": "expect_column_values_to_not_be_null", "kwargs": {}}, "needs the setting column"),
        (
            {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "a", "odd": 1}},
            "no setting 'odd'",
        ),
        (
            {
                "type": "expect_column_mean_to_be_between",
                "kwargs": {"column": "a", "min_value": 1, "windows": [{"range": "last week"}]},
            },
            "windows",
        ),
    ],
)
def test_an_expectation_without_a_meaning_here_is_named(
    expectation: dict[str, Any], named: str
) -> None:
    checks, (unknown,) = great_expectations.checks_of({"expectations": [expectation]})
    assert checks == []
    assert unknown.startswith(expectation["type"])
    assert named in unknown


@pytest.mark.parametrize(
    ("test", "named"),
    [
        ("my_own_test", "no check of that name"),
        ({"my_package.odd": {"arguments": {"x": 1}}}, "no check of that name"),
        ({"not_null": {"config": {"limit": 10}}}, "it says limit"),
        ({"not_null": {"config": {"error_if": "= 3"}}}, "error_if"),
        ({"not_null": {"config": {"error_if": "> 3", "warn_if": "> 1"}}}, "error_if"),
        ({"not_null": {"config": {"enabled": False}}}, "not enabled"),
        ({"not_null": {"fail_calc": "max(n)"}}, "fail_calc"),
        ({"accepted_values": {"arguments": {"values": ["a"], "odd": 1}}}, "no setting 'odd'"),
    ],
)
def test_a_test_of_dbt_without_a_meaning_here_is_named(test: Any, named: str) -> None:
    schema = {"models": [{"name": "orders", "columns": [{"name": "id", "data_tests": [test]}]}]}
    found, (unknown,) = dbt.checks_of(schema)
    assert found == {"orders": []}
    assert "of orders.id" in unknown
    assert named in unknown


CASES = Path(__file__).parents[2] / "cases"


def examples() -> list[dict[str, Any]]:
    """Every check that the cases of the checks and of the other tools' checks have."""
    found: dict[str, dict[str, Any]] = {}
    left: list[Any] = [
        yaml.safe_load(file.read_text())
        for folder in ("checks", "peers")
        for file in sorted((CASES / folder).glob("*.yaml"))
    ]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            if isinstance(value.get("type"), str):
                found[json.dumps(value, sort_keys=True, default=str)] = value
            left += value.values()
        elif isinstance(value, list):
            left += value
    return list(found.values())


@pytest.mark.parametrize("tool", ["great_expectations", "dbt"])
def test_every_example_of_every_check_comes_back_as_it_was(tool: str) -> None:
    kinds, exported = set[str](), 0
    for rule in examples():
        ours = translated(rule)
        if ours["type"] not in CHECKS:
            continue
        kinds.add(str(ours["type"]))
        if tool == "dbt":
            schema, left = dbt.schema_of("orders", [rule])
            found, unknown = dbt.checks_of(yaml.safe_load(yaml.safe_dump(schema)))
            back = found["orders"]
        else:
            suite, left = great_expectations.suite_of("orders", [rule])
            back, unknown = great_expectations.checks_of(json.loads(json.dumps(suite)))
        assert (len(back) + len(left), unknown) == (1, []), rule
        exported += len(back)
        plain = {**ours, "max_broken": ours.get("max_broken") or None}
        wanted = [full(plain, "critical")] * len(back)
        as_text = [
            json.dumps(checks, sort_keys=True, default=str)
            for checks in (wanted, [full(translated(check), "critical") for check in back])
        ]
        assert as_text[0] == as_text[1], rule
    assert kinds == set(CHECKS.names())
    assert exported > 200


@pytest.mark.parametrize("tool", ["great_expectations", "dbt"])
def test_a_check_without_bounds_or_with_odd_settings_becomes_no_other_check(tool: str) -> None:
    for rule in (
        {"type": "expect_table_row_count_to_be_between"},
        {"type": "row_count"},
        {"type": "type", "column": "id", "values": 3},
    ):
        if tool == "dbt":
            schema, left = dbt.schema_of("orders", [rule])
            back, unknown = dbt.checks_of(schema)
            checks = back["orders"]
        else:
            suite, left = great_expectations.suite_of("orders", [rule])
            checks, unknown = great_expectations.checks_of(suite)
        assert unknown == []
        assert [full(check, "critical") for check in checks] == [
            full(rule, "critical") for _check in checks
        ]
        assert len(checks) + len(left) == 1
