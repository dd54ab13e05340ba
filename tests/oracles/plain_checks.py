"""Checks as plain Python would have them: slow, obvious, one row after the other."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean, median, stdev
from typing import Any

Row = dict[str, Any]
#: It holds, and how many rows are broken; None where it speaks of no single row.
Said = tuple[bool, int | None]


def model(check: dict[str, Any], rows: list[Row]) -> Said:
    """What the check has to say."""
    if "where" in check:
        rows = [row for row in rows if row["b"] is not None and row["b"] > 0]
    kind = check["type"]
    if kind in ROWS:
        return _counted(check, [row for row in rows if _speaks_of(check, row)], ROWS[kind])
    if kind in KEYS:
        return _counted(check, *_keys(check, rows))
    if kind in SETS:
        return SETS[kind](set(_there(check, rows)), set(check["values"])), None
    found = NUMBERS[kind](check, rows)
    low, high = check.get("min"), check.get("max")
    return found is not None and low <= found <= high, None


def _there(check: dict[str, Any], rows: list[Row]) -> list[Any]:
    return [row[check["column"]] for row in rows if row[check["column"]] is not None]


def _speaks_of(check: dict[str, Any], row: Row) -> bool:
    """NULLs are left out, unless the check is about them."""
    if check["type"] in ("not_null", "null") or check.get("nulls") == "broken":
        return True
    if check["type"] == "expression":
        return row["a"] is not None and row["b"] is not None
    if "column" in check and "other" not in check:
        return row[check["column"]] is not None
    names = check.get("columns") or [check["column"], check["other"]]
    missing = [row[name] is None for name in names]
    ignore = check.get("ignore", "any")
    return ignore == "never" or not (any(missing) if ignore == "any" else all(missing))


def _counted(
    check: dict[str, Any], rows: Sequence[Row], is_broken: Callable[[dict[str, Any], Row], bool]
) -> Said:
    bad = [row for row in rows if is_broken(check, row)]
    if "per" not in check:
        return _few_enough(check, len(bad), len(rows)), len(bad)
    parts = {row[check["per"]] for row in rows}
    each = [
        _few_enough(
            check,
            sum(row[check["per"]] == part for row in bad),
            sum(row[check["per"]] == part for row in rows),
        )
        for part in parts
    ]
    return all(each), len(bad)


def _few_enough(check: dict[str, Any], broken: int, of: int) -> bool:
    if broken == 0:
        return True
    if "max_broken" in check:
        return broken <= check["max_broken"]
    mostly = check.get("mostly", 1.0)
    return mostly < 1 and (of - broken) / of >= mostly


def _outside(value: Any, check: dict[str, Any]) -> bool:
    low, high = check.get("min"), check.get("max")
    if low is not None and (value < low or (check.get("strict_min") and value == low)):
        return True
    return high is not None and (value > high or (check.get("strict_max") and value == high))


def _matches(check: dict[str, Any], row: Row) -> list[bool]:
    value = row[check["column"]]
    return [re.search(pattern, value) is not None for pattern in check["pattern"]]


def _like(check: dict[str, Any], row: Row) -> bool:
    glob = check["pattern"].replace("%", "*").replace("_", "?")
    return fnmatch.fnmatchcase(row[check["column"]], glob)


def _compares(check: dict[str, Any], row: Row) -> bool:
    left, right = row[check["column"]], row[check["other"]]
    if check["operator"] in ("=", "!="):
        return (left == right) == (check["operator"] == "=")
    if left is None or right is None:  # neither smaller nor greater: nothing is broken
        return True
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
        check["operator"]
    ]


#: The condition of a broken row.
ROWS: dict[str, Callable[[dict[str, Any], Row], bool]] = {
    "not_null": lambda check, row: row[check["column"]] is None,
    "null": lambda check, row: row[check["column"]] is not None,
    "in_range": lambda check, row: _outside(row[check["column"]], check),
    "one_of": lambda check, row: row[check["column"]] not in check["values"],
    "not_one_of": lambda check, row: row[check["column"]] in check["values"],
    "regex": lambda check, row: (
        not (all if check.get("match") == "all" else any)(_matches(check, row))
    ),
    "not_regex": lambda check, row: (all if check.get("match") == "all" else any)(
        _matches(check, row)
    ),
    "like": lambda check, row: not _like(check, row),
    "not_like": _like,
    "length": lambda check, row: _outside(len(row[check["column"]]), check),
    "not_empty": lambda check, row: (
        (row[check["column"]].strip(" ") if check.get("trim", True) else row[check["column"]]) == ""
    ),
    "compare_columns": lambda check, row: not _compares(check, row),
    "columns_sum": lambda check, row: (
        sum(row[name] or 0 for name in check["columns"]) != check["equals"]
    ),
    "unique_within_row": lambda check, row: any(
        row[left] == row[right] for left, right in combinations(check["columns"], 2)
    ),
    "pair_in_set": lambda check, row: (
        [row[name] for name in check["columns"]] not in check["values"]
    ),
    "expression": lambda check, row: not row["a"] >= row["b"],
}


def _keys(
    check: dict[str, Any], rows: list[Row]
) -> tuple[list[Row], Callable[[dict[str, Any], Row], bool]]:
    names = check["columns"]
    nulls = check.get("nulls", "distinct")

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in names)

    def left_out(row: Row) -> bool:
        return nulls != "equal" and (all if check.get("ignore") == "all" else any)(
            value is None for value in key(row)
        )

    often = Counter(key(row) for row in rows if not left_out(row))
    spoken_of = [row for row in rows if nulls == "broken" or not left_out(row)]
    return spoken_of, lambda _, row: left_out(row) or often[key(row)] > 1


KEYS = ("unique",)
SETS: dict[str, Callable[[set[Any], set[Any]], bool]] = {
    "distinct_values_in": lambda found, wanted: found <= wanted,
    "distinct_values_contain": lambda found, wanted: found >= wanted,
    "distinct_values_equal": lambda found, wanted: found == wanted,
}


def _of_values(number: Callable[[list[Any]], float]) -> Callable[..., float | None]:
    def found(check: dict[str, Any], rows: list[Row]) -> float | None:
        there = _there(check, rows)
        return number(there) if there else None

    return found


def _share(part: int, of: int, of_nothing: float) -> float:
    return part / of if of else of_nothing


#: A number over all rows; None where there is none.
NUMBERS: dict[str, Callable[[dict[str, Any], list[Row]], float | None]] = {
    "row_count": lambda check, rows: len(rows),
    "column_count": lambda check, rows: 3,
    "value_count": lambda check, rows: len(_there(check, rows)),
    "distinct_count": lambda check, rows: len(set(_there(check, rows))),
    "unique_share": lambda check, rows: _share(
        len(set(_there(check, rows))), len(_there(check, rows)), 0
    ),
    "null_rate": lambda check, rows: _share(len(rows) - len(_there(check, rows)), len(rows), 0),
    "non_null_share": lambda check, rows: _share(len(_there(check, rows)), len(rows), 1),
    "mean": _of_values(fmean),
    "median": _of_values(median),
    "sum": _of_values(sum),
    "min": _of_values(min),
    "max": _of_values(max),
    "stddev": lambda check, rows: (
        stdev(_there(check, rows)) if len(_there(check, rows)) > 1 else None
    ),
}
