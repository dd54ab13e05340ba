"""Cases for the oracle: every expectation with a counterpart, on rows that are easily got wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_NUMBERS: Sequence[Sequence[float | None]] = ([], [None], [1.0], [1.0, 2.0, None, 4.0])
_PAIRS = [[1, 2], [2, 2], [None, 1], [1, None], [None, None], [5, 4], [2, 2]]


def cases() -> Iterator[dict[str, Any]]:
    """One check a case, in the form of `checks try --jsonl`."""
    number = 0
    for schema, rows, checks in _together():
        names = [part.split()[0] for part in schema.split(", ")]
        objects = [dict(zip(names, row, strict=True)) for row in rows]
        for check in checks:
            yield {"id": number, "schema": schema, "rows": objects, "checks": [check]}
            number += 1


def _together() -> Iterator[tuple[str, Sequence[Sequence[Any]], list[dict[str, Any]]]]:
    for values in _NUMBERS:
        rows = [[value] for value in values]
        yield "a double", rows, [*_of_numbers(), *_of_tables()]
        texts = [[None if value is None else str(value)] for value in values]
        yield "s string", texts, list(_of_texts())
    for pairs in ([], _PAIRS[:1], _PAIRS):
        yield "a int, b int", pairs, list(_of_pairs())
    dates = [["2024-01-01", "2024-01-01 10:00:00"], ["2024-06-30", "2024-06-30 00:00:00"]]
    yield "d date, t timestamp", [*dates, [None, None]], list(_of_times())


def _of_numbers() -> Iterator[dict[str, Any]]:
    bounds = {"column": "a", "min_value": 0, "max_value": 3}
    for what in (
        *("mean", "median", "sum", "min", "max", "stdev", "unique_value_count"),
        *("proportion_of_unique_values", "proportion_of_non_null_values"),
    ):
        yield {"type": f"expect_column_{what}_to_be_between", **bounds}
    between = {"type": "expect_column_values_to_be_between", **bounds}
    yield between
    yield {**between, "mostly": 0.6}
    yield {**between, "min_value": 1, "max_value": 4, "strict_min": True, "strict_max": True}
    yield {**between, "row_condition": 'col("a") > 1', "condition_parser": "great_expectations"}
    for name in ("not_be_null", "be_null", "be_unique", "be_increasing", "be_decreasing"):
        yield {"type": f"expect_column_values_to_{name}", "column": "a"}
    yield {"type": "expect_column_values_to_not_be_null", "column": "a", "mostly": 0.75}
    for name in (
        *("values_to_be_in_set", "values_to_not_be_in_set", "distinct_values_to_be_in_set"),
        *("distinct_values_to_contain_set", "distinct_values_to_equal_set"),
        "most_common_value_to_be_in_set",
    ):
        yield {"type": f"expect_column_{name}", "column": "a", "value_set": [1, 2]}
    for both in (True, False):
        yield {
            "type": "expect_column_value_z_scores_to_be_less_than",
            "column": "a",
            "threshold": 1,
            "double_sided": both,
        }


def _of_tables() -> Iterator[dict[str, Any]]:
    yield {"type": "expect_table_row_count_to_be_between", "min_value": 0, "max_value": 3}
    yield {"type": "expect_table_row_count_to_equal", "value": 4}
    yield {"type": "expect_column_to_exist", "column": "A"}
    yield {"type": "expect_column_to_exist", "column": "a", "column_index": 0}
    yield {"type": "expect_table_columns_to_match_set", "column_set": ["a"]}
    yield {"type": "expect_table_columns_to_match_ordered_list", "column_list": ["a", "b"]}


def _of_texts() -> Iterator[dict[str, Any]]:
    for name, settings in (
        ("values_to_match_regex", {"regex": "1"}),
        ("values_to_not_match_regex", {"regex": "1"}),
        ("values_to_match_regex_list", {"regex_list": ["1", "2"]}),
        ("values_to_match_regex_list", {"regex_list": ["1", ".0"], "match_on": "all"}),
        ("values_to_not_match_regex_list", {"regex_list": ["1", "2"]}),
        ("value_lengths_to_be_between", {"min_value": 3, "max_value": 4, "strict_min": True}),
        ("value_lengths_to_equal", {"value": 3}),
        ("values_to_be_json_parseable", {}),
        ("values_to_match_strftime_format", {"strftime_format": "%Y"}),
    ):
        yield {"type": f"expect_column_{name}", "column": "s", **settings}


def _of_pairs() -> Iterator[dict[str, Any]]:
    pair = {"column_A": "a", "column_B": "b"}
    both = {"column_list": ["a", "b"]}
    for ignore in ("both_values_are_missing", "either_value_is_missing"):
        for name, settings in (
            ("a_to_be_greater_than_b", {}),
            ("a_to_be_greater_than_b", {"or_equal": True}),
            ("to_be_equal", {}),
            ("to_be_in_set", {"value_pairs_set": [[1, 2], [2, 2]]}),
        ):
            kind = f"expect_column_pair_values_{name}"
            yield {"type": kind, **pair, **settings, "ignore_row_if": ignore}
    for ignore in ("all_values_are_missing", "any_value_is_missing", "never"):
        yield {"type": "expect_compound_columns_to_be_unique", **both, "ignore_row_if": ignore}
        kind = "expect_select_column_values_to_be_unique_within_record"
        yield {"type": kind, **both, "ignore_row_if": ignore}
    yield {"type": "expect_multicolumn_sum_to_equal", **both, "sum_total": 4}


def _of_times() -> Iterator[dict[str, Any]]:
    day = {"column": "d", "min_value": "2024-01-01", "max_value": "2024-03-01"}
    yield {"type": "expect_column_values_to_be_between", **day}
    yield {"type": "expect_column_max_to_be_between", **day}
    yield {"type": "expect_column_values_to_be_unique", "column": "d"}
    value_set = ["2024-01-01", "2024-06-30"]
    yield {"type": "expect_column_values_to_be_in_set", "column": "d", "value_set": value_set}
