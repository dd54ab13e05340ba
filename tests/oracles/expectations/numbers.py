"""Numbers: what lies between bounds, sets, order, and aggregates over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oracles.expectations.tables import SHARES, Expectation, Table, column, of

_NOTHING: Sequence[Sequence[Any]] = ([], [None], [None, None])
_DOUBLES: Sequence[Sequence[Any]] = (
    *_NOTHING,
    [1.0],
    [3.0, 3.0, 3.0],
    [1.0, 2.0, None, 4.0],
    [1.0, 2.0, 2.0, None, 4.0, 10.0, None, -3.5],
    [4.0, 3.0, 2.0, 1.0],
)
_WHOLE: Sequence[Sequence[Any]] = ([7], [None, 1, 2, 2, 3], [5, 5, None, 1, 9, 9])
_TOTALS = ("mean", "median", "sum", "min", "max", "stdev")
_COUNTS = (*("unique_value_count", "proportion_of_unique_values", "proportion_of_non_null_values"),)


def tables() -> Iterator[Table]:
    for values in _DOUBLES:
        yield column("double", values, [*_of_values(), *_of_totals(), *_of_sets(), *_of_spread()])
    for values in _WHOLE:
        yield column("int", values, [*_of_values(), *_of_totals(), *_of_sets(), *_of_spread()])
    yield column("bigint", [9_007_199_254_740_993, 2**62, None], _of_great_numbers())
    yield column("decimal(10,2)", ["1.10", "2.20", None, "3.30"], [*_of_decimals(), *_of_totals()])
    yield column("float", [0.5, 1.5, None], [*_of_values(), *_of_totals()])


def _bounds() -> Iterator[dict[str, Any]]:
    yield {"min_value": 0, "max_value": 3}
    yield {"min_value": 2}
    yield {"max_value": 2}
    yield {"min_value": 1, "max_value": 4, "strict_min": True}
    yield {"min_value": 1, "max_value": 4, "strict_max": True}
    yield {"min_value": 3, "max_value": 3}
    yield {"min_value": 1, "max_value": 1}


def _of_values() -> Iterator[Expectation]:
    for bounds in _bounds():
        yield of("values_to_be_between", **bounds)
    for share in SHARES:
        yield of("values_to_be_between", min_value=2, max_value=4, mostly=share)
        yield of("values_to_not_be_null", mostly=share)
        yield of("values_to_be_null", mostly=share)
        yield of("values_to_be_unique", mostly=share)
    yield of("values_to_be_between", min_value=1, max_value=4, strict_min=True, strict_max=True)
    yield of("values_to_be_between", min_value=1.5)
    yield of("values_to_not_be_null")
    yield of("values_to_be_null")
    yield of("values_to_be_unique")
    condition = {"row_condition": 'col("a") > 1', "condition_parser": "great_expectations"}
    for name in ("values_to_be_between", "sum_to_be_between", "min_to_be_between"):
        yield of(name, min_value=2, max_value=4, **condition)
    yield of("values_to_be_unique", **condition)
    spark = {"row_condition": "a >= 2 AND a IS NOT NULL", "condition_parser": "spark"}
    yield of("values_to_be_between", max_value=4, **spark)
    yield of("values_to_be_in_set", value_set=[2, 4], **spark)
    yield of("mean_to_be_between", min_value=1, max_value=3, **spark)


def _of_totals() -> Iterator[Expectation]:
    for bounds in _bounds():
        for name in _TOTALS:
            yield of(f"{name}_to_be_between", **bounds)
    for name in _COUNTS:
        for low, high in ((0, 1), (1, 1), (0.5, 1), (0, 0), (2, 4), (None, 2), (0.75, None)):
            settings = {"min_value": low, "max_value": high}
            given = {name: value for name, value in settings.items() if value is not None}
            yield of(f"{name}_to_be_between", **given)
        for strict in ("strict_min", "strict_max"):
            if name != "unique_value_count":
                yield of(f"{name}_to_be_between", min_value=0, max_value=1, **{strict: True})
    for shares, ranges in (
        ([0.5], [[1, 3]]),
        ([0.0, 0.5, 1.0], [[None, 1], [2, 2], [4, None]]),
        ([0.1, 0.25, 0.75, 0.9], [[1, 2], [1, 2], [2, 4], [2, 4]]),
    ):
        ranged = {"quantiles": shares, "value_ranges": ranges}
        yield of("quantile_values_to_be_between", quantile_ranges=ranged)


def _of_sets() -> Iterator[Expectation]:
    for name in (
        *("values_to_be_in_set", "values_to_not_be_in_set", "distinct_values_to_be_in_set"),
        *("distinct_values_to_contain_set", "distinct_values_to_equal_set"),
        "most_common_value_to_be_in_set",
    ):
        for values in ([1, 2], [1, 2, 4], [3], [1, 2, 3, 4, 5, 9, 10]):
            yield of(name, value_set=values)
    # A NULL among the values lets every value be one of them there, and not here.
    for name in ("values_to_not_be_in_set", "distinct_values_to_contain_set"):
        yield of(name, value_set=[2, None])
    yield of("distinct_values_to_equal_set", value_set=[3, None])
    for share in SHARES:
        yield of("values_to_be_in_set", value_set=[1, 2, 4], mostly=share)
        yield of("values_to_not_be_in_set", value_set=[2], mostly=share)
    yield of("most_common_value_to_be_in_set", value_set=[1, 2], ties_okay=True)
    yield of("most_common_value_to_be_in_set", value_set=[5, 9], ties_okay=True)


def _of_spread() -> Iterator[Expectation]:
    for threshold in (0, 0.5, 1, 2):
        for both in (True, False):
            settings = {"threshold": threshold, "double_sided": both}
            yield of("value_z_scores_to_be_less_than", **settings)
    yield of("value_z_scores_to_be_less_than", threshold=1, double_sided=True, mostly=0.5)
    for name in ("increasing", "decreasing"):
        yield of(f"values_to_be_{name}")
        yield of(f"values_to_be_{name}", strictly=True)
        yield of(f"values_to_be_{name}", mostly=0.6)


def _of_great_numbers() -> Iterator[Expectation]:
    yield of("values_to_be_between", min_value=9_007_199_254_740_993)
    yield of("values_to_be_between", min_value=9_007_199_254_740_994)
    yield of("values_to_be_in_set", value_set=[9_007_199_254_740_993, 2**62])
    yield of("values_to_be_in_set", value_set=[9_007_199_254_740_992, 2**62])
    yield of("max_to_be_between", min_value=2**62, max_value=2**62)
    yield of("distinct_values_to_equal_set", value_set=[9_007_199_254_740_993, 2**62])


def _of_decimals() -> Iterator[Expectation]:
    yield of("values_to_be_between", min_value=1.1, max_value=3.3)
    yield of("values_to_be_between", min_value=1.1, max_value=3.3, strict_min=True)
    yield of("values_to_be_between", min_value=1, max_value=3)
    yield of("values_to_be_in_set", value_set=[1.1, 2.2, 3.3])
    yield of("values_to_be_in_set", value_set=[1.1, 2.2])
    yield of("values_to_be_unique")
    yield of("min_to_be_between", min_value=1.1, max_value=1.1)
    yield of("max_to_be_between", min_value=3.3, max_value=3.3)
