"""Every verdict equals a slow plain-Python model's, for random rows and random checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from statistics import fmean, median
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from goldsmith.checks.trying import answer

SCHEMA = "a INT, b INT, s STRING"
Row = dict[str, Any]

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.none() | st.integers(-3, 3),
            "b": st.none() | st.integers(-3, 3),
            "s": st.none() | st.sampled_from(["", "x", "xy", "Y", "é"]),
        }
    ),
    max_size=8,
)
BOUND = st.integers(-3, 3)


def counted(values: list[Any], is_broken: Callable[[Any], bool], mostly: float) -> tuple[bool, int]:
    broken = sum(map(is_broken, values))
    return broken == 0 or (mostly < 1 and (len(values) - broken) / len(values) >= mostly), broken


def model(check: dict[str, Any], rows: list[Row]) -> tuple[bool, int | None]:
    """What the check has to say: it holds, and how many rows are broken."""
    if "where" in check:
        rows = [row for row in rows if row["b"] is not None and row["b"] > 0]
    kind, mostly = check["type"], check.get("mostly", 1.0)
    everything = [row[check.get("column", "a")] for row in rows]
    there = [value for value in everything if value is not None]
    low, high = check.get("min"), check.get("max")
    if kind == "not_null":
        return counted(everything, lambda value: value is None, mostly)
    if kind == "in_range":
        strict = check.get("strict_min", False)
        return counted(
            there, lambda value: value < low or (strict and value == low) or value > high, mostly
        )
    if kind == "one_of":
        return counted(there, lambda value: value not in check["values"], mostly)
    if kind == "regex":
        return counted(there, lambda value: not re.search(check["pattern"], value), mostly)
    if kind == "length":
        return counted(there, lambda value: not low <= len(value) <= high, mostly)
    if kind == "unique":
        often = Counter(there)
        return counted(there, lambda value: often[value] > 1, mostly)
    if kind == "compare_columns":
        pairs = [(row["a"], row["b"]) for row in rows if None not in (row["a"], row["b"])]
        return counted(pairs, lambda pair: not pair[0] <= pair[1], mostly)
    numbers: dict[str, Callable[[], float | None]] = {
        "row_count": lambda: len(rows),
        "distinct_count": lambda: len(set(there)),
        "mean": lambda: fmean(there) if there else None,
        "median": lambda: median(there) if there else None,
        "max": lambda: max(there, default=None),
        "null_rate": lambda: (len(rows) - len(there)) / len(rows) if rows else 0,
    }
    found = numbers[kind]()
    return found is not None and low <= found <= high, None


@st.composite
def checks(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(
            [
                *("not_null", "in_range", "one_of", "regex", "length", "unique"),
                *("compare_columns", "row_count", "distinct_count", "mean", "median", "max"),
                "null_rate",
            ]
        )
    )
    low, high = sorted((draw(BOUND), draw(BOUND)))
    check: dict[str, Any] = {"type": kind}
    if kind in ("regex", "length"):
        check["column"] = "s"
    elif kind not in ("row_count", "compare_columns"):
        check["column"] = draw(st.sampled_from(["a", "b"]))
    if kind in ("in_range", "length", "row_count", "distinct_count", "mean", "median", "max"):
        check |= {"min": low, "max": high}
    if kind == "in_range":
        check["strict_min"] = draw(st.booleans())
    if kind == "null_rate":
        check |= {"min": 0, "max": draw(st.sampled_from([0, 0.25, 0.5, 1]))}
    if kind == "one_of":
        check["values"] = draw(st.lists(BOUND, max_size=3))
    if kind == "regex":
        check["pattern"] = draw(st.sampled_from(["^x", "y$", "^$", "[xY]"]))
    if kind == "compare_columns":
        check |= {"column": "a", "operator": "<=", "other": "b"}
    if draw(st.booleans()):
        check["where"] = "b > 0"
    if draw(st.booleans()):
        check["mostly"] = draw(st.sampled_from([0.0, 0.5, 0.75, 1.0]))
    return check


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROWS, asked=st.lists(checks(), min_size=4, max_size=12))
def test_a_plain_model_agrees(quick: SparkSession, rows: list[Row], asked: list[Any]) -> None:
    answered = answer(quick, {"id": 1, "schema": SCHEMA, "rows": rows, "checks": asked})
    assert answered["error"] is None
    found = [(one["passed"], one["broken"]) for one in answered["verdicts"]]
    assert found == [model(check, rows) for check in asked]
