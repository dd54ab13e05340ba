"""Translate check_def entries written for other tools into Goldsmith's names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from goldsmith.checks.aliases.alias import Alias, Settings
from goldsmith.checks.aliases.dbt import DBT, DBT_UTILS
from goldsmith.checks.aliases.dbt_expectations import ALIASES as DBT_EXPECTATIONS
from goldsmith.checks.aliases.great_expectations import ALIASES as GREAT_EXPECTATIONS
from goldsmith.checks.aliases.parameter_times import time_of
from goldsmith.checks.aliases.row_condition import as_sql

#: Settings of other tools that are ignored.
_IGNORED = frozenset(
    (
        *("result_format", "catch_exceptions", "meta", "notes", "id", "batch_id", "windows"),
        *("include_config", "include_rendered_content", "rendered_content", "condition_parser"),
        *("expectation_context", "library_metadata", "tags", "enabled", "store_failures"),
        *("store_failures_as", "quote_columns", "quote_identifiers"),
        *("limit", "fail_calc", "error_if", "warn_if", "is_raw", "transform", "escape"),
    )
)
#: Ignored settings that change what a check means: an import reports them.
SILENT = frozenset(("limit", "fail_calc", "transform", "escape", "is_raw", "windows"))
_SEVERITIES = {"error": "critical", "warn": "warning", "failure": "critical"}
#: Other names for Goldsmith's own checks.
_OURS: Mapping[str, Alias] = {
    **{f"{name}_between": Alias(name) for name in ("mean", "median", "sum", "min", "max")},
    "stddev_between": Alias("stddev"),
    "stdev": Alias("stddev"),
    "quantile_between": Alias("quantile"),
    "is_null": Alias("null"),
    "between": Alias("in_range"),
    "in_set": Alias("one_of"),
    "not_in_set": Alias("not_one_of"),
    "foreign_key": Alias("referential"),
    "custom_sql": Alias("query"),
    "sql": Alias("query"),
    "distinct_in_set": Alias("distinct_values_in"),
    "distinct_contain_set": Alias("distinct_values_contain"),
    "distinct_equal_set": Alias("distinct_values_equal"),
    "distinct_values_in_set": Alias("distinct_values_in"),
    "distinct_values_contain_set": Alias("distinct_values_contain"),
    "distinct_values_equal_set": Alias("distinct_values_equal"),
    "column_type": Alias("type", {"type_": "values"}),
    "of_type": Alias("type", {"type_": "values"}),
}
_TOOLS: Mapping[str, Mapping[str, Alias]] = {
    "dbt": DBT,
    "dbt_utils": DBT_UTILS,
    "dbt_expectations": DBT_EXPECTATIONS,
    "great_expectations": GREAT_EXPECTATIONS,
}


def translated(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Translate a check_def entry into Goldsmith's names; without an alias it is unchanged."""
    name = _name(entry)
    alias = find(name)
    if alias is None and "row_condition" not in entry:
        return entry
    settings = dict(_settings(entry))
    done = {"type": name if alias is None else alias.to, **settings}
    if alias is not None:
        # Settings that do not convert stay as they are: validation of the check reports them.
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            done = alias.apply(dict(settings))
    return {key: _parameters(value) for key, value in done.items()}


def find(name: str) -> Alias | None:
    """The alias of that name, written as `tool.name` or as `name` alone."""
    tool, point, rest = name.partition(".")
    if point and tool in _TOOLS:
        return _TOOLS[tool].get(rest)
    for aliases in (GREAT_EXPECTATIONS, DBT, DBT_UTILS, DBT_EXPECTATIONS, _OURS):
        if name in aliases:
            return aliases[name]
    return None


def names() -> Iterator[tuple[str, str, Alias]]:
    """Every alias with its tool and its name in that tool."""
    for tool, aliases in _TOOLS.items():
        for name, alias in aliases.items():
            yield tool, name, alias


def other_names() -> Iterator[str]:
    """The name of every alias as a check_def may write it."""
    for tool, name, _ in names():
        yield name if tool == "great_expectations" else f"{tool}.{name}"


def _name(entry: Mapping[str, Any]) -> str:
    name = str(entry.get("type") or entry.get("expectation_type") or "")
    if name.startswith(("Expect", "Unexpected")):  # a class name in CamelCase
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return name.lower() if name.lower().startswith(("expect_", "unexpected_")) else _dbt(name)


def _dbt(name: str) -> str:
    tool, point, rest = name.partition(".")
    return f"{tool}.{rest.lower()}" if point and tool in _TOOLS else name


def _settings(entry: Mapping[str, Any]) -> Settings:
    """The entry's settings, with nested kwargs, arguments and config flattened."""
    settings: Settings = {}
    for name, value in entry.items():
        if name in ("kwargs", "arguments", "config") and isinstance(value, dict):
            settings |= value
        elif name not in ("type", "expectation_type"):
            settings[name] = value
    settings = {name: value for name, value in settings.items() if name not in _IGNORED}
    condition = settings.pop("row_condition", None)
    if condition is not None:
        settings["where"] = as_sql(condition)
    severity = settings.get("severity")
    if isinstance(severity, str):
        settings["severity"] = _SEVERITIES.get(severity.lower(), severity)
    return {name: value for name, value in settings.items() if value is not None}


def _parameters(value: Any) -> Any:
    """Turn {"$PARAMETER": …} into a {{ parameter }}, a time, or an SQL expression."""
    if not isinstance(value, dict) or "$PARAMETER" not in value:
        return value
    expression = str(value["$PARAMETER"])
    if expression.isidentifier():
        return f"{{{{ {expression} }}}}"
    return time_of(expression) or {"sql": expression}
