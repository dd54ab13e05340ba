"""Aliases for Great Expectations' core expectations, with its NULLs, empty tables and bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from goldsmith.checks.aliases.alias import Alias, Settings

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BOUNDS = {"min_value": "min", "max_value": "max"}
_IGNORED_ROWS = {
    "both_values_are_missing": "all",
    "either_value_is_missing": "any",
    "neither": "never",
    "all_values_are_missing": "all",
    "any_value_is_missing": "any",
    "never": "never",
}


def _ignoring(settings: Settings) -> Settings:
    """Translate `ignore_row_if`; by default rows with NULLs in all columns are left out."""
    ignored = settings.pop("ignore_row_if", None)
    return {
        **settings,
        "ignore": _IGNORED_ROWS.get(ignored, ignored) if ignored is not None else "all",
    }


def _pair(settings: Settings) -> Settings:
    settings = _ignoring(settings)
    names = [settings.pop(name) for name in ("column_A", "column_B") if name in settings]
    return {**settings, "columns": names}


def _compound(settings: Settings) -> Settings:
    settings = _ignoring(settings)
    if settings["ignore"] == "never":
        return {**settings, "nulls": "equal", "ignore": "any"}
    return settings


def _greater(settings: Settings) -> Settings:
    operator = ">=" if settings.pop("or_equal", False) else ">"
    return {**_ignoring(settings), "operator": operator}


def _ties(settings: Settings) -> Settings:
    ties = "any" if settings.pop("ties_okay", False) else "fail"
    return {**settings, "ties": ties}


def _quantiles(settings: Settings) -> Settings:
    ranges = settings.pop("quantile_ranges", None) or {}
    settings.pop("allow_relative_error", None)
    bounds = ranges.get("value_ranges", ())
    return {
        **settings,
        "quantile": ranges.get("quantiles"),
        "min": [low for low, _ in bounds],
        "max": [high for _, high in bounds],
    }


def _open(settings: Settings) -> Settings:
    """Without bounds add empty ones: every value lies between them."""
    if {"min", "max"} & settings.keys():
        return settings
    return {**settings, "min": None, "max": None}


def _extreme(settings: Settings) -> Settings:
    """Great Expectations compares a time with a day by the day of the time."""
    settings = _open(settings)
    bounds = [settings.get(name) for name in ("min", "max")]
    if any(isinstance(bound, str) and _DAY.fullmatch(bound) for bound in bounds):
        return {**settings, "days": True}
    return settings


def _count(settings: Settings) -> Settings:
    """Great Expectations truncates the bounds of counts to whole numbers."""
    for name in ("min", "max", "equals"):
        if isinstance(settings.get(name), float):
            settings[name] = int(settings[name])
    return settings


def _between_counts(settings: Settings) -> Settings:
    return _count(_open(settings))


def _all_equal(settings: Settings) -> Settings:
    """NULL equals NULL; `ignore_row_if` leaves rows out as for other expectations."""
    names = [f"`{str(name).replace('`', '``')}`" for name in settings.pop("columns", ())]
    ignore = _ignoring(settings).pop("ignore")
    settings.pop("ignore_row_if", None)
    wanted = [f"({settings['where']})"] if "where" in settings else []
    if ignore != "never":
        there = " AND " if ignore == "any" else " OR "
        wanted.append(f"({there.join(f'{name} IS NOT NULL' for name in names)})")
    alike = " AND ".join(f"{names[0]} <=> {name}" for name in names[1:])
    return {**settings, **({"where": " AND ".join(wanted)} if wanted else {}), "sql": alike}


def _query(settings: Settings) -> Settings:
    return {**settings, "sql": str(settings.get("sql", "")).replace("{batch}", "{rows}")}


def _distribution(settings: Settings) -> Settings:
    """The partition object holds the expected distribution; only bucketized data is supported."""
    partition = dict(settings.pop("partition_object", None) or {})
    if settings.get("bucketize_data") is True:
        settings.pop("bucketize_data")
    return {**settings, **{name: value for name, value in partition.items() if value is not None}}


def _between(to: str, **implied: Any) -> Alias:
    return Alias(to, _BOUNDS, implied, _open)


def _names(*parts: tuple[str, Alias]) -> dict[str, Alias]:
    return {f"expect_{name}": alias for name, alias in parts}


_SET = {"value_set": "values"}
_CASE = {"case_sensitive": True}

ALIASES: Mapping[str, Alias] = _names(
    ("column_to_exist", Alias("column_exists", {"column_index": "index"}, _CASE)),
    ("table_columns_to_match_ordered_list",
        Alias("column_order", {"column_list": "columns"}, _CASE)),
    ("table_columns_to_match_set",
        Alias("column_set", {"column_set": "columns", "exact_match": "exact"}, _CASE)),
    ("table_column_count_to_equal", Alias("column_count", {"value": "equals"}, changed=_count)),
    ("table_column_count_to_be_between", Alias("column_count", _BOUNDS, changed=_between_counts)),
    ("table_row_count_to_equal", Alias("row_count", {"value": "equals"}, changed=_count)),
    ("table_row_count_to_be_between", Alias("row_count", _BOUNDS, changed=_between_counts)),
    ("table_row_count_to_equal_other_table",
        Alias("equal_rowcount", {"other_table_name": "to"})),
    ("column_values_to_be_null", Alias("null")),
    ("column_values_to_not_be_null", Alias("not_null")),
    ("column_values_to_be_unique", Alias("unique")),
    ("column_values_to_be_of_type", Alias("type", {"type_": "values"})),
    ("column_type_to_be", Alias("type", {"type_": "values"})),
    ("column_values_to_be_in_type_list", Alias("type", {"type_list": "values"})),
    ("column_values_to_be_in_set", Alias("one_of", _SET)),
    ("column_values_to_not_be_in_set", Alias("not_one_of", _SET)),
    ("column_values_to_be_between", _between("in_range")),
    ("column_values_to_be_increasing", Alias("increasing")),
    ("column_values_to_be_decreasing", Alias("decreasing")),
    ("column_value_lengths_to_be_between", Alias("length", _BOUNDS, changed=_between_counts)),
    ("column_value_lengths_to_equal", Alias("length", {"value": "equals"}, changed=_count)),
    ("column_values_to_match_regex", Alias("regex", {"regex": "pattern"})),
    ("column_values_to_not_match_regex", Alias("not_regex", {"regex": "pattern"})),
    ("column_values_to_match_regex_list",
        Alias("regex", {"regex_list": "pattern", "match_on": "match"})),
    ("column_values_to_not_match_regex_list", Alias("not_regex", {"regex_list": "pattern"})),
    ("column_values_to_match_like_pattern", Alias("like", {"like_pattern": "pattern"})),
    ("column_values_to_not_match_like_pattern", Alias("not_like", {"like_pattern": "pattern"})),
    ("column_values_to_match_like_pattern_list",
        Alias("like", {"like_pattern_list": "pattern", "match_on": "match"})),
    ("column_values_to_not_match_like_pattern_list",
        Alias("not_like", {"like_pattern_list": "pattern"})),
    ("column_values_to_match_strftime_format", Alias("format", {"strftime_format": "format"})),
    ("column_values_to_be_dateutil_parseable", Alias("format", implied={"format": "date"})),
    ("column_values_to_be_json_parseable", Alias("format", implied={"format": "json"})),
    ("column_value_z_scores_to_be_less_than",
        Alias("z_score", {"threshold": "max", "double_sided": "both_sides"})),
    ("column_kl_divergence_to_be_less_than",
        Alias("kl_divergence",
              {"threshold": "max", "tail_weight_holdout": "tail_holdout",
               "internal_weight_holdout": "internal_holdout"},
              changed=_distribution)),
    ("column_values_to_match_json_schema", Alias("json_schema", {"json_schema": "schema"})),
    ("column_distinct_values_to_be_in_set", Alias("distinct_values_in", _SET)),
    ("column_distinct_values_to_contain_set", Alias("distinct_values_contain", _SET)),
    ("column_distinct_values_to_equal_set", Alias("distinct_values_equal", _SET)),
    ("column_mean_to_be_between", _between("mean")),
    ("column_median_to_be_between", _between("median")),
    ("column_sum_to_be_between", _between("sum")),
    ("column_min_to_be_between", Alias("min", _BOUNDS, changed=_extreme)),
    ("column_max_to_be_between", Alias("max", _BOUNDS, changed=_extreme)),
    ("column_stdev_to_be_between", _between("stddev")),
    ("column_quantile_values_to_be_between",
        Alias("quantile", implied={"method": "nearest"}, changed=_quantiles)),
    ("column_unique_value_count_to_be_between",
        Alias("distinct_count", _BOUNDS, changed=_between_counts)),
    ("column_proportion_of_unique_values_to_be_between", _between("unique_share")),
    ("column_proportion_of_non_null_values_to_be_between",
        _between("non_null_share", of_nothing=0.0)),
    ("column_most_common_value_to_be_in_set", Alias("most_common_value", _SET, changed=_ties)),
    ("column_pair_values_a_to_be_greater_than_b",
        Alias("compare_columns", {"column_A": "column", "column_B": "other"}, changed=_greater)),
    ("column_pair_values_to_be_equal",
        Alias("compare_columns", {"column_A": "column", "column_B": "other"},
              {"operator": "="}, _ignoring)),
    ("column_pair_values_to_be_in_set",
        Alias("pair_in_set", {"value_pairs_set": "values"}, changed=_pair)),
    ("compound_columns_to_be_unique",
        Alias("unique", {"column_list": "columns"}, changed=_compound)),
    ("multicolumn_values_to_be_unique",
        Alias("unique_within_row", {"column_list": "columns"}, changed=_ignoring)),
    ("select_column_values_to_be_unique_within_record",
        Alias("unique_within_row", {"column_list": "columns"}, changed=_ignoring)),
    ("multicolumn_values_to_be_equal",
        Alias("expression", {"column_list": "columns"}, changed=_all_equal)),
    ("multicolumn_sum_to_equal",
        Alias("columns_sum", {"column_list": "columns", "sum_total": "equals"},
              changed=_ignoring)),
) | {
    "unexpected_rows_expectation": Alias("query", {"unexpected_rows_query": "sql"}, changed=_query),
}  # fmt: skip
