"""Export a rule set as a Great Expectations suite, and import a suite as a rule set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.great_expectations import ALIASES
from goldsmith.checks.aliases.translate import SILENT, translated
from goldsmith.checks.exchange.reverse_alias import Settings, Ways, why_not, written

_SEVERITIES = ("critical", "warning", "info")


def _unique(ours: Settings) -> Iterator[tuple[str, Settings]]:
    columns = ours.pop("columns", None) or ours.pop("column", None)
    listed = [columns] if isinstance(columns, str) else list(columns or ())
    nulls, ignore = ours.pop("nulls", "distinct"), ours.pop("ignore", "any")
    if len(listed) == 1 and nulls == "distinct":
        yield "expect_column_values_to_be_unique", {"column": listed[0], **ours}
        return
    names = {"all": "all_values_are_missing", "any": "any_value_is_missing"}
    ignored = "never" if nulls == "equal" else names[ignore]
    yield (
        "expect_compound_columns_to_be_unique",
        {
            "column_list": listed,
            "ignore_row_if": ignored,
            **ours,
        },
    )


def _matching(kind: str, key: str) -> Callable[[Settings], Iterator[tuple[str, Settings]]]:
    """One pattern and a list of patterns are different expectations."""

    def ways(ours: Settings) -> Iterator[tuple[str, Settings]]:
        pattern, match = ours.pop("pattern"), ours.pop("match", None)
        if isinstance(pattern, str):
            yield f"expect_column_values_to_{kind}", {key: pattern, **ours}
            return
        more = {} if match is None else {"match_on": match}
        yield f"expect_column_values_to_{kind}_list", {f"{key}_list": pattern, **more, **ours}

    return ways


def _format(ours: Settings) -> Iterator[tuple[str, Settings]]:
    form = str(ours.pop("format", ""))
    if "%" in form:
        yield "expect_column_values_to_match_strftime_format", {"strftime_format": form, **ours}
    elif form in ("json", "date"):
        kind = "json" if form == "json" else "dateutil"
        yield f"expect_column_values_to_be_{kind}_parseable", ours


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
    names = {
        "all": "both_values_are_missing",
        "any": "either_value_is_missing",
        "never": "neither",
    }
    operator = ours.pop("operator", None)
    theirs = {
        **{k: v for k, v in ours.items() if k not in ("column", "other", "ignore")},
        "column_A": ours.get("column"),
        "column_B": ours.get("other"),
        "ignore_row_if": names[ours.get("ignore", "any")],
    }
    if operator == "=":
        yield "expect_column_pair_values_to_be_equal", theirs
    elif operator in (">", ">="):
        more = {"or_equal": True} if operator == ">=" else {}
        yield "expect_column_pair_values_a_to_be_greater_than_b", {**theirs, **more}


def _distribution(ours: Settings) -> Iterator[tuple[str, Settings]]:
    names = {
        "max": "threshold",
        "tail_holdout": "tail_weight_holdout",
        "internal_holdout": "internal_weight_holdout",
    }
    parts = ("values", "bins", "weights", "tail_weights")
    partition = {name: ours.pop(name) for name in parts if name in ours}
    theirs = {names.get(name, name): value for name, value in ours.items()}
    yield "expect_column_kl_divergence_to_be_less_than", {"partition_object": partition, **theirs}


_OTHER_WAYS: Ways = {
    "kl_divergence": _distribution,
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


def suite_of(
    name: str, checks: Sequence[Mapping[str, Any]], *, severity: str = "critical"
) -> tuple[dict[str, Any], list[str]]:
    """The suite, and the checks it cannot express; `severity` is the default for the checks."""
    expectations: list[dict[str, Any]] = []
    left: list[str] = []
    for entry in checks:
        found = written(entry, ALIASES, takes=_TAKES, other_ways=_OTHER_WAYS)
        # Great Expectations can allow a share of broken rows, but not a number.
        if found is None or entry.get("max_broken"):
            of = entry.get("column") or entry.get("columns")
            left.append(f"{entry['type']}{f' of {of}' if of else ''}")
            continue
        type_, kwargs = found
        ours = translated(entry)
        if ours.get("where") is not None:
            kwargs = {**kwargs, "row_condition": ours["where"], "condition_parser": "spark"}
        meta = {k: ours[k] for k in ("on_fail", "name", "scope") if ours.get(k)}
        expectations.append(
            {
                "type": type_,
                "kwargs": kwargs,
                "meta": {"goldsmith": meta} if meta else {},
                "severity": ours.get("severity", severity),
                **({"description": ours["description"]} if ours.get("description") else {}),
            }
        )
    return {"name": name, "expectations": expectations, "meta": {}, "notes": None}, left


def checks_of(suite: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The check_def of a suite, and the expectations that cannot be imported."""
    found, unknown = [], []
    for expectation in suite.get("expectations") or ():
        type_ = expectation.get("type") or expectation.get("expectation_type")
        entry = {"type": str(type_), **dict(expectation.get("kwargs") or {})}
        mine = dict((expectation.get("meta") or {}).get("goldsmith") or {})
        if expectation.get("severity") in _SEVERITIES:
            mine["severity"] = expectation["severity"]
        if isinstance(expectation.get("description"), str):
            mine["description"] = expectation["description"]
        check = {**translated(entry), **mine}
        problems = [f"it says {key}" for key in entry if key in SILENT and entry[key] is not None]
        if problems := problems or why_not(check):
            of = entry.get("column") or entry.get("column_list")
            unknown.append(f"{type_}{f' of {of}' if of else ''}: {'; '.join(problems)}")
        else:
            found.append(check)
    return found, unknown
