"""Every verdict equals a slow plain-Python model's, for random rows and random checks."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from goldsmith.checks.try_checks import answer
from oracles.plain_checks import KEYS, NUMBERS, ROWS, SETS, Row, model

SCHEMA = "a INT, b INT, s STRING"
VALUE = st.none() | st.integers(-3, 3)
ROW_LISTS = st.lists(
    st.fixed_dictionaries(
        {
            "a": VALUE,
            "b": VALUE,
            "s": st.none() | st.sampled_from(["", " ", "x", "xy", "Y", "é"]),
        }
    ),
    max_size=8,
)
BOUND = st.integers(-3, 3)
PATTERNS = st.lists(st.sampled_from(["^x", "y$", "^$", "[xY]"]), min_size=1, max_size=2)
IGNORE = st.sampled_from(["any", "all", "never"])
TEXTS = ("regex", "not_regex", "like", "not_like", "length", "not_empty")
SHARES = ("unique_share", "null_rate", "non_null_share")
NAMES = [*ROWS, *KEYS, *SETS, *NUMBERS]


@st.composite
def own_settings(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """The settings of a check of that kind."""
    low, high = sorted((draw(BOUND), draw(BOUND)))
    column = "s" if kind in TEXTS else draw(st.sampled_from(["a", "b"]))
    match kind:
        case "regex" | "not_regex":
            match = draw(st.sampled_from(["any", "all"]))
            return {"column": column, "pattern": draw(PATTERNS), "match": match}
        case "like" | "not_like":
            return {"column": column, "pattern": draw(st.sampled_from(["x%", "_", "%y", ""]))}
        case "not_empty":
            return {"column": column, "trim": draw(st.booleans())}
        case "one_of":
            nulls = draw(st.sampled_from(["pass", "broken"]))
            return {"column": column, "values": draw(st.lists(BOUND, max_size=3)), "nulls": nulls}
        case "not_one_of" | "distinct_values_in":
            return {"column": column, "values": draw(st.lists(BOUND, max_size=3))}
        case "distinct_values_contain" | "distinct_values_equal":
            return {"column": column, "values": draw(st.lists(BOUND, max_size=3, unique=True))}
        case "compare_columns":
            operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
            return {"column": "a", "operator": operator, "other": "b", "ignore": draw(IGNORE)}
        case "columns_sum":
            return {"columns": ["a", "b"], "equals": low, "ignore": draw(IGNORE)}
        case "unique_within_row":
            return {"columns": ["a", "b"], "ignore": draw(IGNORE)}
        case "pair_in_set":
            pairs = draw(st.lists(st.tuples(VALUE, VALUE).map(list), max_size=4))
            return {"columns": ["a", "b"], "values": pairs, "ignore": draw(IGNORE)}
        case "unique":
            columns = draw(st.sampled_from([["a"], ["s"], ["a", "b"]]))
            nulls = draw(st.sampled_from(["distinct", "equal", "broken"]))
            ignore = draw(st.sampled_from(["any", "all"]))
            return {"columns": columns, "nulls": nulls, "ignore": ignore}
        case "expression":
            return {"sql": "a >= b"}
        case "not_null" | "null":
            return {"column": column}
        case "row_count" | "column_count":
            return {"min": low, "max": high}
        case _ if kind in SHARES:
            most = draw(st.sampled_from([0, 0.25, 0.5, 1]))
            return {"column": column, "min": 0, "max": most}
        case "in_range" | "length":
            strict = {"strict_min": draw(st.booleans()), "strict_max": draw(st.booleans())}
            return {"column": column, "min": low, "max": high, **strict}
    return {"column": column, "min": low, "max": high}


@st.composite
def checks(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(NAMES))
    check = {"type": kind, **draw(own_settings(kind))}
    if kind != "column_count" and draw(st.booleans()):
        check["where"] = "b > 0"
    if kind in ROWS or kind in KEYS:
        if draw(st.booleans()):
            check["mostly"] = draw(st.sampled_from([0.0, 0.5, 0.75, 1.0]))
        elif draw(st.booleans()):
            check["max_broken"] = draw(st.integers(0, 3))
        if kind in ROWS and draw(st.booleans()):
            check["per"] = draw(st.sampled_from(["a", "b", "s"]))
    return check


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROW_LISTS, entries=st.lists(checks(), min_size=8, max_size=16))
def test_a_plain_model_agrees(quick: SparkSession, rows: list[Row], entries: list[Any]) -> None:
    answered = answer(quick, {"id": 1, "schema": SCHEMA, "rows": rows, "checks": entries})
    assert answered["error"] is None
    found = [(verdict["passed"], verdict["broken"]) for verdict in answered["verdicts"]]
    assert found == [model(check, rows) for check in entries]
