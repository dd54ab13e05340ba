"""Aliases for the tests of dbt and dbt-utils, with their treatment of NULLs and empty tables.

A dbt test is a query for failing rows: a comparison with NULL fails no row, and an aggregate over
no rows passes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from goldsmith.checks.aliases.alias import Alias, Settings

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


def refs(settings: Settings) -> Settings:
    """Replace ref('orders') or source(…) in `to` by the name of the dataset."""
    text = str(settings.get("to", "")).strip().removeprefix("{{").removesuffix("}}").strip()
    found = _REF.fullmatch(text)
    if found is None:
        return settings
    return {**settings, "to": found[1].split(",")[-1].strip().strip("'\"")}


def _expression(settings: Settings) -> Settings:
    """With a column, dbt's expression is the rest of a condition that begins with the column."""
    column = settings.pop("column", None)
    sql = str(settings.pop("expression", ""))
    return {**settings, "sql": sql if column is None else f"`{column}` {sql}"}


def recency(settings: Settings) -> Settings:
    unit = str(settings.pop("datepart", "hour")).lower().removesuffix("s")
    settings.pop("ignore_time_component", None)
    age = settings.pop("interval", None)
    hours = _HOURS.get(unit)
    return {**settings, "max_age_hours": age * hours if hours and age is not None else age}


def _inclusive(settings: Settings) -> Settings:
    strict = not settings.pop("inclusive", True)
    return _values(_strict(settings, strict))


def strictly(settings: Settings) -> Settings:
    return _values(_strict(settings, bool(settings.pop("strictly", False))))


def _strict(settings: Settings, strict: bool) -> Settings:
    return {**settings, "strict_min": strict, "strict_max": strict} if strict else settings


def _values(settings: Settings) -> Settings:
    """Read the bounds, which are SQL in dbt."""
    return {
        **settings,
        **{name: sql_value(settings[name]) for name in ("min", "max") if name in settings},
    }


def sql_value(value: Any) -> Any:
    """Read a value that dbt inserts into SQL: a quoted text is a value, others are expressions."""
    if not isinstance(value, str):
        return value
    quoted = _QUOTED.fullmatch(value.strip())
    return quoted[1].replace("''", "'") if quoted else {"sql": value}


def listed(settings: Settings, quoting: str, *, quotes: bool = True) -> Settings:
    """Read listed values: dbt quotes them, numbers too; unquoted values are SQL."""
    is_quoted = settings.pop(quoting, quotes)
    values = settings.get("values")
    if not isinstance(values, list | tuple):
        return settings
    read = _as_text if is_quoted else sql_value
    return {**settings, "values": [read(value) for value in values]}


def _as_text(value: Any) -> Any:
    return value if isinstance(value, dict) else str(value)


def _quoted(settings: Settings) -> Settings:
    return listed(settings, "quote")


def _ranges(settings: Settings) -> Settings:
    within = settings.pop("partition_by", None)
    if within is not None:
        settings["within"] = [column.strip() for column in str(within).split(",")]
    return settings


def _steps(settings: Settings) -> Settings:
    groups = settings.pop("group_by_columns", None)
    return settings if not groups else {**settings, "within": list(groups)}


TO = {"compare_model": "to", "column_name": "column"}
BOUNDS = {"min_value": "min", "max_value": "max"}
COLUMN = {"column_name": "column"}

DBT: Mapping[str, Alias] = {
    "not_null": Alias("not_null", COLUMN),
    "unique": Alias("unique", COLUMN),
    "accepted_values": Alias("one_of", COLUMN, changed=_quoted),
    "relationships": Alias("referential", COLUMN, changed=refs),
}
DBT_UTILS: Mapping[str, Alias] = {
    "equal_rowcount": Alias("equal_rowcount", TO, changed=refs),
    "fewer_rows_than": Alias("fewer_rows", TO, changed=refs),
    "cardinality_equality": Alias("same_counts", COLUMN, changed=refs),
    "expression_is_true": Alias("expression", COLUMN, changed=_expression),
    "recency": Alias("freshness", {"field": "column"}, {"empty": "pass"}, recency),
    "at_least_one": Alias("value_count", COLUMN, {"min": 1}),
    "not_constant": Alias("not_constant", COLUMN),
    "not_empty_string": Alias("not_empty", {**COLUMN, "trim_whitespace": "trim"}),
    "not_null_proportion": Alias(
        "non_null_share",
        {**COLUMN, "at_least": "min", "at_most": "max"},
        {"max": 1, "of_nothing": "pass"},
    ),
    "not_accepted_values": Alias("not_one_of", COLUMN, changed=_quoted),
    "unique_combination_of_columns": Alias(
        "unique", {"combination_of_columns": "columns"}, {"nulls": "equal"}
    ),
    "accepted_range": Alias("in_range", {**COLUMN, **BOUNDS}, changed=_inclusive),
    "sequential_values": Alias("sequential_values", {**COLUMN, "datepart": "unit"}, changed=_steps),
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
