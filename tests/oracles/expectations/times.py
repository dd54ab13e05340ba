"""Dates and times, given as texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oracles.expectations.tables import SHARES, Expectation, Table, column, of

_DAYS: Sequence[Sequence[Any]] = (
    [],
    [None],
    ["2024-01-01"],
    ["2024-01-01", "2024-02-29", None, "2024-06-30", "2024-01-01"],
    ["2024-03-01", "2024-01-31"],
)
_MOMENTS: Sequence[Sequence[Any]] = (
    [],
    ["2024-01-01 00:00:00"],
    ["2024-01-01 10:00:00", "2024-03-01 00:00:00", None, "2024-03-01 00:00:01"],
    ["2024-06-30 23:59:59.500", "2024-01-01 00:00:00"],
)


def tables() -> Iterator[Table]:
    for days in _DAYS:
        yield column("date", days, [*_of_bounds(), *_of_order(), *_of_sets()])
    for moments in _MOMENTS:
        yield column("timestamp", moments, [*_of_bounds(), *_of_order(), *_of_moments()])
        yield column("timestamp_ntz", moments, _of_bounds())


def _of_bounds() -> Iterator[Expectation]:
    for name in ("values", "min", "max"):
        kind = f"{name}_to_be_between"
        yield of(kind, min_value="2024-01-01", max_value="2024-03-01")
        yield of(kind, min_value="2024-01-01", strict_min=True)
        yield of(kind, max_value="2024-03-01", strict_max=True)
        yield of(kind, min_value="2024-01-01", max_value="2024-01-01")
        yield of(kind, max_value="2024-06-30")
        yield of(kind, min_value="2024-01-01 10:00:00", max_value="2024-03-01 00:00:00")
        yield of(kind, min_value="2024-01-01T00:00:00", max_value="2024-03-01T00:00:00")
    for share in SHARES:
        settings = {"min_value": "2024-01-01", "max_value": "2024-03-01"}
        yield of("values_to_be_between", **settings, mostly=share)


def _of_order() -> Iterator[Expectation]:
    for name in ("increasing", "decreasing"):
        yield of(f"values_to_be_{name}")
        yield of(f"values_to_be_{name}", strictly=True)
    yield of("values_to_be_unique")
    yield of("values_to_not_be_null", mostly=0.75)
    yield of("unique_value_count_to_be_between", min_value=1, max_value=3)
    settings = {"row_condition": 'col("a") > date("2024-01-01")'}
    yield of("values_to_be_unique", **settings, condition_parser="great_expectations")
    settings = {"row_condition": "a > '2024-01-15'", "condition_parser": "spark"}
    yield of("values_to_be_between", max_value="2024-05-01", **settings)
    yield of("values_to_not_be_null", **settings)


def _of_sets() -> Iterator[Expectation]:
    for values in (["2024-01-01"], ["2024-01-01", "2024-02-29", "2024-06-30"], ["2023-01-01"]):
        for name in (
            *("values_to_be_in_set", "values_to_not_be_in_set", "distinct_values_to_be_in_set"),
            *("distinct_values_to_contain_set", "distinct_values_to_equal_set"),
        ):
            yield of(name, value_set=values)


def _of_moments() -> Iterator[Expectation]:
    for values in (["2024-01-01 00:00:00"], ["2024-01-01 10:00:00", "2024-03-01 00:00:00"]):
        yield of("values_to_be_in_set", value_set=values)
        yield of("values_to_not_be_in_set", value_set=values)
