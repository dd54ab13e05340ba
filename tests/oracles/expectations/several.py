"""Several columns: pairs, keys, sums; and the table itself: its rows, its columns, odd names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oracles.expectations.tables import SHARES, Expectation, Table, expect

_PAIRS: Sequence[Sequence[Sequence[Any]]] = (
    [],
    [[1, 2]],
    [[None, None]],
    [[1, None]],
    [[1, 2], [2, 2], [None, 1], [1, None], [None, None], [5, 4], [2, 2], [None, None], [1, None]],
    [[3, 1], [2, 1], [4, 4]],
)
_TRIPLES: Sequence[Sequence[Sequence[Any]]] = (
    [],
    [[1, 1, 1]],
    [[1, 2, 3], [1, 2, 3], [None, 2, 3], [None, 2, 3], [None, None, None], [None, None, None]],
    [[1, 2, 3], [2, 2, None], [1, 2, 4]],
)
_OF_PAIRS = ("both_values_are_missing", "either_value_is_missing", "neither")
_OF_SEVERAL = ("all_values_are_missing", "any_value_is_missing", "never")
#: Points in names are beyond Great Expectations on Spark.
_ODD = ("odd name", "a:b", "select", "Ünïcode", "a-b")


def tables() -> Iterator[Table]:
    for pairs in _PAIRS:
        expected = [*_of_pairs(), *_of_keys(["a", "b"])]
        yield Table(schema="a int, b int", names=["a", "b"], rows=pairs, expected=expected)
    texts = [[None if value is None else str(value) for value in row] for row in _PAIRS[4]]
    text_pairs = {"value_pairs_set": [["1", "2"], ["2", "2"], [None, "1"]]}
    expected = [*_of_pairs(**text_pairs), *_of_keys(["a", "b"])]
    yield Table(schema="a string, b string", names=["a", "b"], rows=texts, expected=expected)
    days = [["2024-01-02", "2024-01-01"], ["2024-01-01", "2024-01-01"], [None, "2024-01-01"]]
    days_set = {"value_pairs_set": [["2024-01-01", "2024-01-01"]]}
    yield Table(
        schema="a date, b date",
        names=["a", "b"],
        rows=days,
        expected=list(_of_pairs(**days_set)),
    )
    for triples in _TRIPLES:
        names = ["a", "b", "c"]
        expected = [*_of_keys(names), *_of_sums(names), *_of_tables(names)]
        yield Table(schema="a int, b int, c int", names=names, rows=triples, expected=expected)
    for name in _ODD:
        yield Table(
            schema=f"`{name}` int, other string",
            names=[name, "other"],
            rows=[[1, "x"], [None, "y"], [1, None]],
            expected=list(_of_odd(name)),
        )


def _of_pairs(**pairs_set: Any) -> Iterator[Expectation]:
    pair = {"column_A": "a", "column_B": "b"}
    combinations = pairs_set or {"value_pairs_set": [[1, 2], [2, 2], [None, 1]]}
    for ignore in _OF_PAIRS:
        for what, settings in (
            ("a_to_be_greater_than_b", {}),
            ("a_to_be_greater_than_b", {"or_equal": True}),
            ("to_be_equal", {}),
            ("to_be_in_set", combinations),
        ):
            keywords = {**pair, **settings, "ignore_row_if": ignore}
            yield expect(f"column_pair_values_{what}", **keywords)
            for share in (0.5, 0.6):
                yield expect(f"column_pair_values_{what}", **keywords, mostly=share)
    yield expect("column_pair_values_to_be_equal", **pair)
    yield expect("column_pair_values_a_to_be_greater_than_b", **pair)
    yield expect("column_pair_values_to_be_in_set", **pair, **combinations)
    condition = {"row_condition": "a IS NOT NULL", "condition_parser": "spark"}
    yield expect("column_pair_values_to_be_equal", **pair, **condition)


def _of_keys(names: list[str]) -> Iterator[Expectation]:
    unique = "compound_columns_to_be_unique"
    within = "select_column_values_to_be_unique_within_record"
    for kind in (unique, within):
        yield expect(kind, column_list=names)
        for ignore in _OF_SEVERAL:
            yield expect(kind, column_list=names, ignore_row_if=ignore)
            for share in SHARES[1:-1]:
                yield expect(kind, column_list=names, ignore_row_if=ignore, mostly=share)
        yield expect("multicolumn_values_to_be_equal", column_list=names)
    for ignore in _OF_SEVERAL:
        settings = {"column_list": names, "ignore_row_if": ignore}
        yield expect("multicolumn_values_to_be_equal", **settings)
        yield expect("multicolumn_values_to_be_equal", **settings, mostly=0.5)
    condition = {"row_condition": "b = 2", "condition_parser": "spark"}
    yield expect(unique, column_list=names, **condition)
    yield expect(within, column_list=names, **condition)


def _of_sums(names: list[str]) -> Iterator[Expectation]:
    for total in (3, 5, 6, 0):
        yield expect("multicolumn_sum_to_equal", column_list=names, sum_total=total)
        for ignore in _OF_SEVERAL:
            settings = {"column_list": names, "sum_total": total, "ignore_row_if": ignore}
            yield expect("multicolumn_sum_to_equal", **settings)
            yield expect("multicolumn_sum_to_equal", **settings, mostly=0.5)


def _of_tables(names: list[str]) -> Iterator[Expectation]:
    for low, high in ((0, 3), (1, None), (None, 5), (3, 3), (7, 9)):
        settings = {"min_value": low, "max_value": high}
        given = {name: value for name, value in settings.items() if value is not None}
        yield expect("table_row_count_to_be_between", **given)
        yield expect("table_column_count_to_be_between", **given)
    strict = {"strict_min": True, "strict_max": True}
    yield expect("table_row_count_to_be_between", min_value=0, max_value=3, **strict)
    for value in (0, 1, 3, 6):
        yield expect("table_row_count_to_equal", value=value)
        yield expect("table_column_count_to_equal", value=value)
    condition = {"row_condition": "a = 1", "condition_parser": "spark"}
    yield expect("table_row_count_to_equal", value=2, **condition)
    yield expect("table_row_count_to_be_between", min_value=2, max_value=2, **condition)
    for name, index in (("a", 0), ("a", 1), ("A", 0), ("c", 2), ("z", 0), ("c", None), ("C", None)):
        given = {} if index is None else {"column_index": index}
        yield expect("column_to_exist", column=name, **given)
    for wanted in (names, [*reversed(names)], names[:2], [*names, "z"], ["A", "b", "c"]):
        yield expect("table_columns_to_match_ordered_list", column_list=wanted)
        yield expect("table_columns_to_match_set", column_set=wanted)
        yield expect("table_columns_to_match_set", column_set=wanted, exact_match=False)
    yield expect("column_values_to_not_be_null", column="no_such_column")
    yield expect("column_mean_to_be_between", column="no_such_column", min_value=0)
    yield expect("compound_columns_to_be_unique", column_list=["a", "no_such_column"])
    settings = {"result_format": "COMPLETE", "catch_exceptions": True, "meta": {"by": "us"}}
    yield expect("column_values_to_not_be_null", column="a", **settings)
    query = "SELECT * FROM {batch} WHERE a = 1"
    yield {"type": "unexpected_rows_expectation", "unexpected_rows_query": query}


def _of_odd(name: str) -> Iterator[Expectation]:
    for what, settings in (
        ("values_to_not_be_null", {}),
        ("values_to_be_unique", {}),
        ("values_to_be_between", {"min_value": 1, "max_value": 2}),
        ("values_to_be_in_set", {"value_set": [1]}),
        ("mean_to_be_between", {"min_value": 1, "max_value": 1}),
        ("max_to_be_between", {"min_value": 1, "max_value": 1}),
        ("unique_value_count_to_be_between", {"min_value": 1, "max_value": 1}),
        ("distinct_values_to_equal_set", {"value_set": [1]}),
        ("median_to_be_between", {"min_value": 1, "max_value": 1}),
    ):
        yield expect(f"column_{what}", column=name, **settings)
    yield expect("column_to_exist", column=name)
    yield expect("compound_columns_to_be_unique", column_list=[name, "other"])
