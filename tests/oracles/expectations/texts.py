"""Texts: patterns, lengths, forms, sets and bounds of texts; booleans; types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oracles.expectations.tables import SHARES, Expectation, Table, column, of

_TEXTS: Sequence[Sequence[Any]] = (
    [],
    [None],
    [""],
    ["abc"],
    ["1", "2", None, "33"],
    ["a", "B", "b ", " b", None, "a", "é", "naïve"],
    ["x1\ny2", "tab\there", "a.c", "abc", "ABC"],
    ["2024-01-01", "2024-02-30", "24-1-1", "not a date", None],
    ['{"a": 1}', "[]", "1", "null", '"x"', "{a: 1}", "", None, "NaN", "{} x"],
)
_PATTERNS = (
    *("^a", "b$", "^$", r"^\d+$", "(?i)^ABC$", r"\s", r"a\.c", "^(a|b)$", "é", r"^\w+$", "x.y"),
    *("y2$", "^y2"),
)


def tables() -> Iterator[Table]:
    for values in _TEXTS:
        yield column("string", values, [*_of_patterns(), *_of_forms(), *_of_sets(), *_of_nulls()])
    for values in ([], [None], [True], [True, False, None, True], [False, False]):
        yield column("boolean", values, _of_booleans())
    for type_, value in (
        *(("int", 1), ("bigint", 1), ("double", 1.0), ("float", 1.0), ("string", "x")),
        *(("boolean", True), ("date", "2024-01-01"), ("timestamp", "2024-01-01 00:00:00")),
        *(("decimal(10,2)", "1.00"), ("smallint", 1), ("tinyint", 1)),
    ):
        yield column(type_, [value, None], _of_types())


def _of_patterns() -> Iterator[Expectation]:
    for pattern in _PATTERNS:
        yield of("values_to_match_regex", regex=pattern)
        yield of("values_to_not_match_regex", regex=pattern)
    for share in SHARES:
        yield of("values_to_match_regex", regex="^[a1]", mostly=share)
    for patterns in (["a", "b"], ["^a", "^1"], [r"\d"], ["^x", "zzz"]):
        for on in ("any", "all"):
            yield of("values_to_match_regex_list", regex_list=patterns, match_on=on)
        yield of("values_to_match_regex_list", regex_list=patterns)
        yield of("values_to_not_match_regex_list", regex_list=patterns)


def _of_forms() -> Iterator[Expectation]:
    for low, high in ((1, 3), (0, 0), (3, 3), (None, 2), (2, None)):
        settings = {"min_value": low, "max_value": high}
        given = {name: value for name, value in settings.items() if value is not None}
        yield of("value_lengths_to_be_between", **given)
    strict = {"strict_min": True, "strict_max": True}
    yield of("value_lengths_to_be_between", min_value=1, max_value=4, **strict)
    yield of("value_lengths_to_be_between", min_value=1, mostly=0.5)
    for length in (0, 1, 3):
        yield of("value_lengths_to_equal", value=length)
    for form in ("%Y-%m-%d", "%y-%m-%d", "%Y", "%d/%m/%Y"):
        yield of("values_to_match_strftime_format", strftime_format=form)
    yield of("values_to_be_json_parseable")
    yield of("values_to_be_json_parseable", mostly=0.5)


def _of_sets() -> Iterator[Expectation]:
    for name in (
        *("values_to_be_in_set", "values_to_not_be_in_set", "distinct_values_to_be_in_set"),
        *("distinct_values_to_contain_set", "distinct_values_to_equal_set"),
        "most_common_value_to_be_in_set",
    ):
        for values in (["abc"], ["a", "B"], [""], ["1", "2", "33"], ["A", "b"]):
            yield of(name, value_set=values)
    for share in (0.5, 0.75):
        yield of("values_to_be_in_set", value_set=["a", "1", "abc"], mostly=share)
    yield of("unique_value_count_to_be_between", min_value=1, max_value=3)
    yield of("proportion_of_unique_values_to_be_between", min_value=0.5, max_value=1)


def _of_nulls() -> Iterator[Expectation]:
    yield of("values_to_not_be_null")
    yield of("values_to_be_null")
    yield of("values_to_be_unique")
    yield of("values_to_be_unique", mostly=0.5)
    yield of("values_to_not_be_null", row_condition="a = 'a'", condition_parser="spark")
    settings = {"row_condition": 'col("a") == "a"', "condition_parser": "great_expectations"}
    yield of("values_to_be_in_set", value_set=["a"], **settings)
    yield of("values_to_be_unique", **settings)
    settings = {"row_condition": 'col("a").notNull()', "condition_parser": "great_expectations"}
    yield of("values_to_not_be_null", **settings)
    yield of("value_lengths_to_be_between", max_value=3, **settings)


def _of_booleans() -> Iterator[Expectation]:
    for values in ([True], [False], [True, False]):
        yield of("values_to_be_in_set", value_set=values)
        yield of("values_to_not_be_in_set", value_set=values)
        yield of("distinct_values_to_be_in_set", value_set=values)
        yield of("distinct_values_to_equal_set", value_set=values)
        yield of("distinct_values_to_contain_set", value_set=values)
        yield of("most_common_value_to_be_in_set", value_set=values)
    yield of("values_to_be_in_set", value_set=[True], mostly=2 / 3)
    yield of("values_to_not_be_null")
    yield of("values_to_be_unique")
    yield of("unique_value_count_to_be_between", min_value=1, max_value=2)
    yield of("proportion_of_non_null_values_to_be_between", min_value=0.75)


def _of_types() -> Iterator[Expectation]:
    for type_ in (
        *("IntegerType", "LongType", "DoubleType", "FloatType", "StringType", "BooleanType"),
        *("DateType", "TimestampType", "DecimalType", "ShortType", "ByteType"),
    ):
        yield of("values_to_be_of_type", type_=type_)
        yield of("type_to_be", type_=type_)
    yield of("values_to_be_in_type_list", type_list=["StringType", "IntegerType", "DateType"])
    yield of("values_to_be_in_type_list", type_list=["LongType", "DoubleType"])
