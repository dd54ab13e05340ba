"""A Great Expectations suite from a rule set, and a rule set from a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.great_expectations import ALIASES
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.exchange.reversed import Settings, written

_SEVERITIES = ("critical", "warning", "info")


def _unique(ours: Settings) -> Iterator[tuple[str, Settings]]:
    columns = ours.pop("columns", None) or ours.pop("column", None)
    if isinstance(columns, str) or (columns and len(columns) == 1):
        column = columns if isinstance(columns, str) else columns[0]
        yield "expect_column_values_to_be_unique", {**ours, "column": column}
    words = {"all": "all_values_are_missing", "any": "any_value_is_missing"}
    ignore = ours.pop("ignore", "any")
    if columns and not isinstance(columns, str):
        if ours.pop("nulls", None) == "equal":
            ignore = "never"
        yield (
            "expect_compound_columns_to_be_unique",
            {
                **ours,
                "column_list": list(columns),
                "ignore_row_if": words.get(ignore, ignore),
            },
        )


def _compared(ours: Settings) -> Iterator[tuple[str, Settings]]:
    words = {
        "all": "both_values_are_missing",
        "any": "either_value_is_missing",
        "never": "neither",
    }
    operator = ours.pop("operator", None)
    said = {
        **{k: v for k, v in ours.items() if k not in ("column", "other", "ignore")},
        "column_A": ours.get("column"),
        "column_B": ours.get("other"),
        "ignore_row_if": words[ours.get("ignore", "any")],
    }
    if operator == "=":
        yield "expect_column_pair_values_to_be_equal", said
    elif operator in (">", ">="):
        more = {"or_equal": True} if operator == ">=" else {}
        yield "expect_column_pair_values_a_to_be_greater_than_b", {**said, **more}


_OTHER_WAYS = {"unique": _unique, "compare_columns": _compared}


def suite_of(name: str, checks: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """The suite, and the checks it cannot say."""
    expectations: list[dict[str, Any]] = []
    left: list[str] = []
    for entry in checks:
        found = written(entry, ALIASES, other_ways=_OTHER_WAYS)
        if found is None:
            left.append(str(entry["type"]))
            continue
        type_, kwargs = found
        ours = translated(entry)
        if ours.get("where") is not None:
            kwargs = {**kwargs, "row_condition": ours["where"], "condition_parser": "spark"}
        meta = {k: ours[k] for k in ("on_fail", "name", "scope", "max_broken") if ours.get(k)}
        expectations.append(
            {
                "type": type_,
                "kwargs": kwargs,
                "meta": {"goldsmith": meta} if meta else {},
                "severity": ours.get("severity", "critical"),
                **({"description": ours["description"]} if ours.get("description") else {}),
            }
        )
    return {"name": name, "expectations": expectations, "meta": {}, "notes": None}, left


def checks_of(suite: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The check_def a suite means, by our names."""
    found = []
    for one in suite.get("expectations", ()):
        type_ = one.get("type") or one.get("expectation_type")
        entry = {"type": str(type_), **dict(one.get("kwargs") or {})}
        mine = dict((one.get("meta") or {}).get("goldsmith") or {})
        if one.get("severity") in _SEVERITIES:
            mine["severity"] = one["severity"]
        if isinstance(one.get("description"), str):
            mine["description"] = one["description"]
        found.append({**translated(entry), **mine})
    return found
