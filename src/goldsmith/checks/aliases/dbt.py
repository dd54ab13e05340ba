"""The tests of dbt, dbt-utils and dbt-expectations, as they treat NULLs and empty tables.

A dbt test is a query for failing rows: a comparison with NULL fails none, and of an aggregate over
no rows nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from goldsmith.checks.aliases.alias import Alias, Settings
from goldsmith.checks.aliases.great_expectations import ALIASES as GREAT_EXPECTATIONS

_HOURS = {
    "second": 1 / 3600,
    "minute": 1 / 60,
    "hour": 1.0,
    "day": 24.0,
    "week": 168.0,
    "month": 720.0,
    "quarter": 2160.0,
    "year": 8760.0,
}
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_REF = re.compile(r"(?:ref|source)\(\s*(.*?)\s*\)")


def _refs(settings: Settings) -> Settings:
    """ref('orders') is the dataset orders."""
    said = str(settings.get("to", "")).strip().removeprefix("{{").removesuffix("}}").strip()
    found = _REF.fullmatch(said)
    if found is None:
        return settings
    return {**settings, "to": found[1].split(",")[-1].strip().strip("'\"")}


def _expression(settings: Settings) -> Settings:
    """Of a column, the expression goes on after its name."""
    column = settings.pop("column", None)
    said = str(settings.pop("expression", ""))
    return {**settings, "sql": said if column is None else f"`{column}` {said}"}


def _recency(settings: Settings) -> Settings:
    unit = str(settings.pop("datepart", "hour")).lower().removesuffix("s")
    settings.pop("ignore_time_component", None)
    age = settings.pop("interval", None)
    hours = _HOURS.get(unit)
    return {**settings, "max_age_hours": age * hours if hours and age is not None else age}


def _inclusive(settings: Settings) -> Settings:
    strict = not settings.pop("inclusive", True)
    return _values(_strict(settings, strict))


def _strictly(settings: Settings) -> Settings:
    return _values(_strict(settings, bool(settings.pop("strictly", False))))


def _strict(settings: Settings, strict: bool) -> Settings:
    return {**settings, "strict_min": strict, "strict_max": strict} if strict else settings


def _values(settings: Settings) -> Settings:
    """Bounds are SQL there: a quoted text is a value, another an expression."""
    return {
        **settings,
        **{name: _value(settings[name]) for name in ("min", "max") if name in settings},
    }


def _value(said: Any) -> Any:
    if not isinstance(said, str):
        return said
    quoted = _QUOTED.fullmatch(said.strip())
    return quoted[1].replace("''", "'") if quoted else {"sql": said}


def _ranges(settings: Settings) -> Settings:
    within = settings.pop("partition_by", None)
    if within is not None:
        settings["within"] = [one.strip() for one in str(within).split(",")]
    return settings


def _steps(settings: Settings) -> Settings:
    groups = settings.pop("group_by_columns", None)
    return settings if not groups else {**settings, "within": list(groups)}


def _ordered(settings: Settings) -> Settings:
    by = settings.pop("sort_column", None) or settings.get("column")
    groups = settings.pop("group_by", None)
    settings.pop("step", None)
    return {
        **settings,
        "by": [by],
        **({"within": list(groups)} if groups else {}),
    }


def _more_than(settings: Settings) -> Settings:
    value = settings.pop("value", None)
    return {**settings, "min": value, "strict_min": True}


def _less_than(settings: Settings) -> Settings:
    value = settings.pop("value", None)
    return {**settings, "max": value, "strict_max": True}


def _plain_list(settings: Settings) -> Settings:
    """Values may be SQL texts in quotes there."""
    settings.pop("top_n", None)
    settings.pop("data_type", None)
    return settings


def _compound(settings: Settings) -> Settings:
    said = settings.pop("ignore_row_if", "all_values_are_missing")
    return {**settings, "ignore": "any" if said == "any_value_is_missing" else "all"}


_TO = {"compare_model": "to", "column_name": "column"}
_BOUNDS = {"min_value": "min", "max_value": "max"}
_COLUMN = {"column_name": "column"}

DBT: Mapping[str, Alias] = {
    "not_null": Alias("not_null", _COLUMN),
    "unique": Alias("unique", _COLUMN),
    "accepted_values": Alias("one_of", _COLUMN),
    "relationships": Alias("referential", _COLUMN, changed=_refs),
}
DBT_UTILS: Mapping[str, Alias] = {
    "equal_rowcount": Alias("equal_rowcount", _TO, changed=_refs),
    "fewer_rows_than": Alias("fewer_rows", _TO, changed=_refs),
    "cardinality_equality": Alias("same_counts", _COLUMN, changed=_refs),
    "expression_is_true": Alias("expression", _COLUMN, changed=_expression),
    "recency": Alias("freshness", {"field": "column"}, {"empty": "pass"}, _recency),
    "at_least_one": Alias("value_count", _COLUMN, {"min": 1}),
    "not_constant": Alias("not_constant", _COLUMN),
    "not_empty_string": Alias("not_empty", {**_COLUMN, "trim_whitespace": "trim"}),
    "not_null_proportion": Alias(
        "non_null_share", {**_COLUMN, "at_least": "min", "at_most": "max"}
    ),
    "not_accepted_values": Alias("not_one_of", _COLUMN),
    "unique_combination_of_columns": Alias(
        "unique", {"combination_of_columns": "columns"}, {"nulls": "equal"}
    ),
    "accepted_range": Alias("in_range", {**_COLUMN, **_BOUNDS}, changed=_inclusive),
    "sequential_values": Alias(
        "sequential_values", {**_COLUMN, "datepart": "unit"}, changed=_steps
    ),
    "mutually_exclusive_ranges": Alias(
        "ranges_apart",
        {
            "lower_bound_column": "lower",
            "upper_bound_column": "upper",
            "zero_length_range_allowed": "empty_ranges",
        },
        changed=_ranges,
    ),
}


def _same(name: str) -> Alias:
    """dbt-expectations' test of that name, where only the column is called differently."""
    alias = GREAT_EXPECTATIONS[f"expect_{name}"]
    return Alias(alias.to, {**alias.renamed, **_COLUMN}, alias.implied, alias.changed)


def _between(to: str, **implied: Any) -> Alias:
    return Alias(to, {**_BOUNDS, **_COLUMN}, implied, _strictly)


_SET = {"value_set": "values", "column_name": "column"}
_LIST = {"column_list": "columns"}
_PAIR = {"column_A": "column", "column_B": "other"}


def _pair(settings: Settings) -> Settings:
    ours = GREAT_EXPECTATIONS["expect_column_pair_values_to_be_in_set"].changed
    assert ours is not None
    settings.setdefault("ignore_row_if", "any_value_is_missing")
    return ours(settings)


def _greater(settings: Settings) -> Settings:
    settings.pop("ignore_row_if", None)
    operator = ">=" if settings.pop("or_equal", False) else ">"
    return {**settings, "operator": operator}


DBT_EXPECTATIONS: Mapping[str, Alias] = {
    f"expect_{name}": alias
    for name, alias in {
        **{
            name.removeprefix("expect_"): _same(name.removeprefix("expect_"))
            for name in GREAT_EXPECTATIONS
            if name.startswith("expect_")
        },
        "column_to_exist": Alias("column_exists", {**_COLUMN, "column_index": "index"}),
        "table_columns_to_match_set": Alias("column_set", _LIST),
        "table_columns_to_contain_set": Alias("column_set", _LIST, {"exact": False}),
        "table_columns_to_match_ordered_list": Alias("column_order", _LIST),
        "table_row_count_to_be_between": _between("row_count"),
        "table_row_count_to_equal_other_table": Alias("equal_rowcount", _TO, changed=_refs),
        "row_values_to_have_recent_data": Alias("freshness", _COLUMN, {"empty": "pass"}, _recency),
        "column_values_to_be_of_type": Alias("type", {**_COLUMN, "column_type": "values"}),
        "column_values_to_be_in_type_list": Alias(
            "type", {**_COLUMN, "column_type_list": "values"}
        ),
        "column_values_to_be_between": _between("in_range"),
        "column_values_to_be_increasing": Alias(
            "increasing", _COLUMN, {"strictly": True}, _ordered
        ),
        "column_values_to_be_decreasing": Alias(
            "decreasing", _COLUMN, {"strictly": True}, _ordered
        ),
        "column_value_lengths_to_be_between": _between("length"),
        "column_distinct_count_to_equal": Alias("distinct_count", {**_COLUMN, "value": "equals"}),
        "column_distinct_count_to_be_greater_than": Alias(
            "distinct_count", _COLUMN, changed=_more_than
        ),
        "column_distinct_count_to_be_less_than": Alias(
            "distinct_count", _COLUMN, changed=_less_than
        ),
        "column_mean_to_be_between": _between("mean", empty="pass"),
        "column_median_to_be_between": _between("median", empty="pass"),
        "column_sum_to_be_between": _between("sum", empty="pass"),
        "column_min_to_be_between": _between("min", empty="pass"),
        "column_max_to_be_between": _between("max", empty="pass"),
        "column_stdev_to_be_between": _between("stddev", empty="pass"),
        "column_quantile_values_to_be_between": _between("quantile", empty="pass"),
        "column_unique_value_count_to_be_between": _between("distinct_count"),
        "column_proportion_of_unique_values_to_be_between": _between("unique_share"),
        "column_most_common_value_to_be_in_set": Alias(
            "most_common_value", _SET, changed=_plain_list
        ),
        "column_pair_values_a_to_be_greater_than_b": Alias(
            "compare_columns", _PAIR, changed=_greater
        ),
        "column_pair_values_to_be_equal": Alias("compare_columns", _PAIR, {"operator": "="}),
        "column_pair_values_to_be_in_set": Alias(
            "pair_in_set", {"value_pairs_set": "values"}, changed=_pair
        ),
        "compound_columns_to_be_unique": Alias("unique", _LIST, changed=_compound),
    }.items()
}
