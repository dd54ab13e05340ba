"""A Great Expectations suite from a rule set, and a rule set from a suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.great_expectations import ALIASES
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.exchange.reversed import Settings, Ways, written

_SEVERITIES = ("critical", "warning", "info")


def _unique(ours: Settings) -> Iterator[tuple[str, Settings]]:
    columns = ours.pop("columns", None) or ours.pop("column", None)
    listed = [columns] if isinstance(columns, str) else list(columns or ())
    nulls, ignore = ours.pop("nulls", "distinct"), ours.pop("ignore", "any")
    if len(listed) == 1 and nulls == "distinct":
        yield "expect_column_values_to_be_unique", {"column": listed[0], **ours}
        return
    words = {"all": "all_values_are_missing", "any": "any_value_is_missing"}
    said = "never" if nulls == "equal" else words[ignore]
    yield (
        "expect_compound_columns_to_be_unique",
        {
            "column_list": listed,
            "ignore_row_if": said,
            **ours,
        },
    )


def _matching(kind: str, word: str) -> Callable[[Settings], Iterator[tuple[str, Settings]]]:
    """One pattern, or a list of them, each under its own name."""

    def ways(ours: Settings) -> Iterator[tuple[str, Settings]]:
        pattern, match = ours.pop("pattern"), ours.pop("match", None)
        if isinstance(pattern, str):
            yield f"expect_column_values_to_{kind}", {word: pattern, **ours}
            return
        more = {} if match is None else {"match_on": match}
        yield f"expect_column_values_to_{kind}_list", {f"{word}_list": pattern, **more, **ours}

    return ways


def _format(ours: Settings) -> Iterator[tuple[str, Settings]]:
    said = str(ours.pop("format", ""))
    if "%" in said:
        yield "expect_column_values_to_match_strftime_format", {"strftime_format": said, **ours}
    elif said in ("json", "date"):
        word = "json" if said == "json" else "dateutil"
        yield f"expect_column_values_to_be_{word}_parseable", ours


def _type(ours: Settings) -> Iterator[tuple[str, Settings]]:
    values = ours.pop("values")
    if isinstance(values, str):
        yield "expect_column_values_to_be_of_type", {"type_": values, **ours}
    else:
        yield "expect_column_values_to_be_in_type_list", {"type_list": list(values), **ours}


def _query(ours: Settings) -> Iterator[tuple[str, Settings]]:
    sql = str(ours.pop("sql", "")).replace("{rows}", "{batch}")
    yield "unexpected_rows_expectation", {"unexpected_rows_query": sql, **ours}


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


_OTHER_WAYS: Ways = {
    "unique": _unique,
    "compare_columns": _compared,
    "regex": _matching("match_regex", "regex"),
    "not_regex": _matching("not_match_regex", "regex"),
    "like": _matching("match_like_pattern", "like_pattern"),
    "not_like": _matching("not_match_like_pattern", "like_pattern"),
    "format": _format,
    "type": _type,
    "query": _query,
}
_TAKES = frozenset(("column", "mostly", "strict_min", "strict_max"))


def suite_of(name: str, checks: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """The suite, and the checks it cannot say."""
    expectations: list[dict[str, Any]] = []
    left: list[str] = []
    for entry in checks:
        found = written(entry, ALIASES, takes=_TAKES, other_ways=_OTHER_WAYS)
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
