"""What Great Expectations leaves open or writes in Python is read as it means it."""

from __future__ import annotations

import pytest

from goldsmith.checks.aliases.translate import find, translated
from goldsmith.checks.check import CHECKS
from goldsmith.checks.planned_check import plan_one

BETWEEN = sorted(
    name
    for name in (
        "expect_column_values_to_be_between",
        "expect_column_mean_to_be_between",
        "expect_column_median_to_be_between",
        "expect_column_sum_to_be_between",
        "expect_column_min_to_be_between",
        "expect_column_max_to_be_between",
        "expect_column_stdev_to_be_between",
        "expect_column_unique_value_count_to_be_between",
        "expect_column_proportion_of_unique_values_to_be_between",
        "expect_column_proportion_of_non_null_values_to_be_between",
        "expect_column_value_lengths_to_be_between",
        "expect_table_row_count_to_be_between",
        "expect_table_column_count_to_be_between",
    )
)


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("bounds", [{}, {"min_value": None, "max_value": None}])
def test_bounds_that_are_both_empty_are_bounds(name: str, bounds: dict[str, None]) -> None:
    column = {} if "_table_" in name else {"column": "a"}
    assert plan_one({"type": name, **column, **bounds}).settings.get("min") is None


def test_our_own_checks_need_a_bound_or_the_word_that_there_is_none() -> None:
    check = CHECKS.get("in_range")
    assert check.problems({"type": "in_range", "column": "a"})
    assert not check.problems({"type": "in_range", "column": "a", "min": None, "max": None})


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("datetime(2026, 1, 2)", "2026-01-02 00:00:00"),
        ("datetime.datetime(2026, 1, 2, 3, 4, 5)", "2026-01-02 03:04:05"),
        ("date(2026, 1, 2) + timedelta(days=1)", "2026-01-03 00:00:00"),
        ("datetime(2026, 1, 2) - timedelta(hours=1)", "2026-01-01 23:00:00"),
        ("now()", {"sql": "timestamp'{{ now }}' + INTERVAL '0.000000' SECOND"}),
        (
            "now() - timedelta(days=1, seconds=0.5)",
            {"sql": "timestamp'{{ now }}' + INTERVAL '-86400.500000' SECOND"},
        ),
        (
            "timedelta(weeks=1) + now()",
            {"sql": "timestamp'{{ now }}' + INTERVAL '604800.000000' SECOND"},
        ),
        ("run_day", "{{ run_day }}"),
        ("1 + 2", {"sql": "1 + 2"}),
        ("__import__('os').system('true')", {"sql": "__import__('os').system('true')"}),
        ("datetime(10**9, 1, 1)", {"sql": "datetime(10**9, 1, 1)"}),
        ("now().__class__", {"sql": "now().__class__"}),
    ],
)
def test_a_parameter_that_is_a_time_is_one(text: str, bound: object) -> None:
    assert find("expect_column_values_to_be_between") is not None
    entry = {
        "type": "expect_column_values_to_be_between",
        "column": "at",
        "min_value": {"$PARAMETER": text},
    }
    assert translated(entry)["min"] == bound
