"""An entry of a check_def, written for whichever tool, by our names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from goldsmith.checks.aliases.alias import Alias, Settings
from goldsmith.checks.aliases.dbt import DBT, DBT_UTILS
from goldsmith.checks.aliases.dbt_expectations import ALIASES as DBT_EXPECTATIONS
from goldsmith.checks.aliases.great_expectations import ALIASES as GREAT_EXPECTATIONS
from goldsmith.checks.aliases.row_condition import as_sql

#: Settings of those tools that say nothing of the data.
_IGNORED = frozenset(
    (
        *("result_format", "catch_exceptions", "meta", "notes", "id", "batch_id", "windows"),
        *("include_config", "include_rendered_content", "rendered_content", "condition_parser"),
        *("expectation_context", "library_metadata", "tags", "enabled", "store_failures"),
        *("store_failures_as", "quote_columns", "quote_identifiers"),
        *("limit", "fail_calc", "error_if", "warn_if", "is_raw", "transform", "escape"),
    )
)
_SEVERITIES = {"error": "critical", "warn": "warning", "failure": "critical"}
#: Other words for our own checks.
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
    """An entry of a check_def by our names; one that names no alias is given back."""
    name = _name(entry)
    alias = find(name)
    if alias is None and "row_condition" not in entry:
        return entry
    settings = dict(_settings(entry))
    done = {"type": name if alias is None else alias.to, **settings}
    if alias is not None:
        # Settings nobody can read: the check they are given to says what is wrong with them.
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            done = alias.apply(dict(settings))
    return {key: _parameters(value) for key, value in done.items()}


def find(name: str) -> Alias | None:
    """The alias of that name, with its tool before a point or without."""
    tool, point, rest = name.partition(".")
    if point and tool in _TOOLS:
        return _TOOLS[tool].get(rest)
    for aliases in (GREAT_EXPECTATIONS, DBT, DBT_UTILS, DBT_EXPECTATIONS, _OURS):
        if name in aliases:
            return aliases[name]
    return None


def names() -> Iterator[tuple[str, str, Alias]]:
    """Every alias: its tool, its name there, and what it is here."""
    for tool, aliases in _TOOLS.items():
        for name, alias in aliases.items():
            yield tool, name, alias


def other_names() -> Iterator[str]:
    """Every alias as it may be written."""
    for tool, name, _ in names():
        yield name if tool == "great_expectations" else f"{tool}.{name}"


def _name(entry: Mapping[str, Any]) -> str:
    said = str(entry.get("type") or entry.get("expectation_type") or "")
    if said.startswith(("Expect", "Unexpected")):  # the name of the class
        said = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", said)
    return said.lower() if said.lower().startswith(("expect_", "unexpected_")) else _dbt(said)


def _dbt(said: str) -> str:
    tool, point, rest = said.partition(".")
    return f"{tool}.{rest.lower()}" if point and tool in _TOOLS else said


def _settings(entry: Mapping[str, Any]) -> Settings:
    """What the entry says, however it is nested there."""
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
    """{"$PARAMETER": …}: a name is a parameter of ours, anything else an expression."""
    if not isinstance(value, dict) or "$PARAMETER" not in value:
        return value
    said = str(value["$PARAMETER"])
    return f"{{{{ {said} }}}}" if said.isidentifier() else {"sql": said}
