"""Aliases for the tests of dbt-expectations: Great Expectations' names with rules of their own.

Each test is a query for failing rows. A NULL fails a test against a set of values; conditions on
several columns are SQL conditions, which a NULL does not break.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.checks.aliases.alias import Alias, Settings
from goldsmith.checks.aliases.dbt import (
    BOUNDS,
    COLUMN,
    TO,
    listed,
    recency,
    refs,
    sql_value,
    strictly,
)
from goldsmith.checks.aliases.great_expectations import ALIASES as GREAT_EXPECTATIONS

_SET = {"value_set": "values", "column_name": "column"}
_LIST = {"column_list": "columns"}
_PAIR = {"column_A": "column", "column_B": "other"}


def _same(name: str) -> Alias:
    """The alias of Great Expectations, where only the column setting is named differently."""
    alias = GREAT_EXPECTATIONS[f"expect_{name}"]
    return Alias(alias.to, {**alias.renamed, **COLUMN}, alias.implied, alias.changed)


def _between(to: str, **implied: Any) -> Alias:
    return Alias(to, {**BOUNDS, **COLUMN}, implied, strictly)


def _name(column: Any) -> str:
    return f"`{str(column).replace('`', '``')}`"


def _literal(value: Any) -> str:
    """A value as SQL: a literal or an expression."""
    read = sql_value(value)
    if isinstance(read, dict):
        return str(read["sql"])
    if isinstance(read, str):
        text = read.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{text}'"
    return str(read)


def _and(settings: Settings, condition: str) -> Settings:
    """Add a condition to the row condition."""
    where = settings.get("where")
    return {**settings, "where": condition if where is None else f"({where}) AND ({condition})"}


def _in_set(settings: Settings) -> Settings:
    return listed(settings, "quote_values")


def _from_zero(settings: Settings) -> Settings:
    """dbt-expectations counts positions of columns from 1; 0 means any position."""
    position = settings.pop("index", None)
    return {**settings, "index": position - 1} if position else settings


def _recent(settings: Settings) -> Settings:
    """Leave out rows with a time in the future."""
    condition = f"{_name(settings.get('column'))} <= TIMESTAMP '{{{{ now }}}}'"
    return _and(recency(settings), condition)


def _ordered(settings: Settings) -> Settings:
    by = settings.pop("sort_column", None) or settings.get("column")
    groups = settings.pop("group_by", None)
    return {**settings, "by": [by], **({"within": list(groups)} if groups else {})}


def _more_than(settings: Settings) -> Settings:
    value = settings.pop("value", None)
    return {**settings, "min": value, "strict_min": True}


def _less_than(settings: Settings) -> Settings:
    value = settings.pop("value", None)
    return {**settings, "max": value, "strict_max": True}


def _most_common(settings: Settings) -> Settings:
    """Query the n-th most frequent value; NULL counts as a value and never fails."""
    quotes = settings.pop("quote_values", False)
    settings.pop("data_type", None)
    rank, column = settings.pop("top_n", 1), _name(settings.pop("column"))
    values = [_literal(f"'{value}'" if quotes else value) for value in settings.pop("values")]
    counted = f"SELECT {column} AS value, count(*) AS n FROM {{rows}} GROUP BY {column}"
    ranked = f"SELECT value, row_number() OVER (ORDER BY n DESC) AS place FROM ({counted})"
    outside = f"value NOT IN ({', '.join(values)})"
    sql = f"SELECT value FROM ({ranked}) WHERE place = {int(rank)} AND {outside}"
    return {**settings, "sql": sql}


def _greater(settings: Settings) -> Settings:
    settings.pop("ignore_row_if", None)
    operator = ">=" if settings.pop("or_equal", False) else ">"
    return {**settings, "operator": operator}


def _pair(settings: Settings) -> Settings:
    settings.pop("ignore_row_if", None)
    left, right = _name(settings.pop("column_A")), _name(settings.pop("column_B"))
    allowed = [
        f"({left} = {_literal(first)} AND {right} = {_literal(second)})"
        for first, second in settings.pop("values")
    ]
    return {**settings, "sql": " OR ".join(allowed)}


def _compound(settings: Settings) -> Settings:
    ignored = settings.pop("ignore_row_if", "all_values_are_missing")
    return {**settings, "ignore": "any" if ignored == "any_value_is_missing" else "all"}


def _within_record(settings: Settings) -> Settings:
    """There are as many distinct values as columns; a NULL is no value."""
    ignored = settings.pop("ignore_row_if", "all_values_are_missing")
    names = [_name(column) for column in settings.pop("columns")]
    there = " OR " if ignored == "all_values_are_missing" else " AND "
    texts = ", ".join(f"CAST({name} AS STRING)" for name in names)
    sql = f"size(array_distinct(array_compact(array({texts})))) = {len(names)}"
    return _and({**settings, "sql": sql}, there.join(f"{name} IS NOT NULL" for name in names))


def _sum(settings: Settings) -> Settings:
    """Compare sums over all rows or per group; a total given as text is an expression to sum."""
    total, groups = settings.pop("equals", None), settings.pop("group_by", None)
    found = " + ".join(f"sum({_name(column)})" for column in settings.pop("columns"))
    wanted = f"sum({total})" if isinstance(total, str) else str(total)
    grouped = f" GROUP BY {', '.join(map(_name, groups))}" if groups else ""
    chosen = f"SELECT {found} AS found, {wanted} AS wanted FROM {{rows}}{grouped}"
    return {**settings, "sql": f"SELECT found FROM ({chosen}) WHERE found != wanted"}


def _flags(settings: Settings) -> Settings:
    """Write regex flags in front of the pattern: `(?i)…`."""
    flags = settings.pop("flags", None)
    if not flags:
        return settings
    patterns = settings.get("pattern", ())
    if isinstance(patterns, str):
        return {**settings, "pattern": f"(?{flags}){patterns}"}
    return {**settings, "pattern": [f"(?{flags}){pattern}" for pattern in patterns]}


def _none_of(settings: Settings) -> Settings:
    """`match_on: any` passes if any pattern does not match, as not_regex with `match: all` does."""
    matched = "any" if settings.pop("match_on", "any") == "all" else "all"
    return {**_flags(settings), "match": matched}


def _patterns(to: str, pattern: str, *, listed_on: bool = False) -> Alias:
    renamed = {**COLUMN, pattern: "pattern", **({"match_on": "match"} if listed_on else {})}
    return Alias(to, renamed, changed=_flags)


ALIASES: Mapping[str, Alias] = {
    f"expect_{name}": alias
    for name, alias in {
        **{
            name.removeprefix("expect_"): _same(name.removeprefix("expect_"))
            for name in GREAT_EXPECTATIONS
            if name.startswith("expect_")
        },
        "column_to_exist": Alias(
            "column_exists", {**COLUMN, "column_index": "index"}, changed=_from_zero
        ),
        "table_columns_to_match_set": Alias("column_set", _LIST),
        "table_columns_to_contain_set": Alias("column_set", _LIST, {"exact": False}),
        "table_columns_to_match_ordered_list": Alias("column_order", _LIST),
        "table_row_count_to_be_between": _between("row_count"),
        "table_row_count_to_equal_other_table": Alias("equal_rowcount", TO, changed=refs),
        "row_values_to_have_recent_data": Alias("freshness", COLUMN, changed=_recent),
        "column_values_to_be_of_type": Alias("type", {**COLUMN, "column_type": "values"}),
        "column_values_to_be_in_type_list": Alias("type", {**COLUMN, "column_type_list": "values"}),
        "column_values_to_be_between": _between("in_range"),
        "column_values_to_be_increasing": Alias(
            "increasing", COLUMN, {"strictly": True, "nulls": "part"}, _ordered
        ),
        "column_values_to_be_decreasing": Alias(
            "decreasing", COLUMN, {"strictly": True, "nulls": "part"}, _ordered
        ),
        "column_values_to_be_in_set": Alias("one_of", _SET, {"nulls": "broken"}, _in_set),
        "column_values_to_not_be_in_set": Alias("not_one_of", _SET, changed=_in_set),
        "column_distinct_values_to_be_in_set": Alias(
            "distinct_values_in", _SET, {"nulls": "broken"}, _in_set
        ),
        "column_distinct_values_to_equal_set": Alias(
            "distinct_values_equal", _SET, {"nulls": "broken"}, _in_set
        ),
        "column_distinct_values_to_contain_set": Alias(
            "distinct_values_contain", _SET, changed=_in_set
        ),
        "column_values_to_match_regex": _patterns("regex", "regex"),
        "column_values_to_not_match_regex": _patterns("not_regex", "regex"),
        "column_values_to_match_regex_list": _patterns("regex", "regex_list", listed_on=True),
        "column_values_to_not_match_regex_list": Alias(
            "not_regex", {**COLUMN, "regex_list": "pattern"}, changed=_none_of
        ),
        "column_values_to_not_match_like_pattern_list": Alias(
            "not_like", {**COLUMN, "like_pattern_list": "pattern"}, changed=_none_of
        ),
        "column_value_lengths_to_be_between": _between("length"),
        "column_distinct_count_to_equal": Alias("distinct_count", {**COLUMN, "value": "equals"}),
        "column_distinct_count_to_be_greater_than": Alias(
            "distinct_count", COLUMN, changed=_more_than
        ),
        "column_distinct_count_to_be_less_than": Alias(
            "distinct_count", COLUMN, changed=_less_than
        ),
        "column_mean_to_be_between": _between("mean", empty="pass"),
        "column_median_to_be_between": _between("median", empty="pass"),
        "column_sum_to_be_between": _between("sum", empty="pass"),
        "column_min_to_be_between": _between("min", empty="pass"),
        "column_max_to_be_between": _between("max", empty="pass"),
        "column_stdev_to_be_between": _between("stddev", empty="pass"),
        "column_quantile_values_to_be_between": _between("quantile", empty="pass"),
        "column_unique_value_count_to_be_between": _between("distinct_count"),
        "column_proportion_of_unique_values_to_be_between": _between(
            "unique_share", of_nothing="pass"
        ),
        "column_most_common_value_to_be_in_set": Alias("query", _SET, changed=_most_common),
        "column_pair_values_a_to_be_greater_than_b": Alias(
            "compare_columns", _PAIR, changed=_greater
        ),
        "column_pair_values_to_be_equal": Alias("compare_columns", _PAIR, {"operator": "="}),
        "column_pair_values_to_be_in_set": Alias(
            "expression", {"value_pairs_set": "values"}, changed=_pair
        ),
        "compound_columns_to_be_unique": Alias("unique", _LIST, changed=_compound),
        "select_column_values_to_be_unique_within_record": Alias(
            "expression", _LIST, changed=_within_record
        ),
        "multicolumn_sum_to_equal": Alias("query", {**_LIST, "sum_total": "equals"}, changed=_sum),
    }.items()
}
