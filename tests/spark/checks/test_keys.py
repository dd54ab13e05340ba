"""Keys counted by their hashes are counted as exactly as by their values."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation, evaluate
from goldsmith.checks.planned_check import planned

NOW = Context(now=datetime(2026, 1, 10, tzinfo=UTC))
CHECKS = planned(
    [
        {"type": "unique", "column": "id"},
        {"type": "unique", "columns": ["id", "x"]},
        {"type": "unique", "columns": ["x", "z"], "nulls": "equal"},
        {"type": "unique", "column": "x", "nulls": "broken", "where": "id < 40"},
        {"type": "distinct_count", "column": "x", "min": 0},
        {"type": "distinct_count", "column": "id", "min": 0},
        {"type": "unique_share", "column": "z", "min": 0},
        {"type": "most_common_value", "column": "x", "values": [1]},
        {"type": "row_count", "min": 1},
    ]
)


def test_hashes_and_values_give_the_same_counts(quick: SparkSession) -> None:
    rows = quick.range(100).select(
        # Two of a hundred repeat: suspects are sorted out by their hash.
        F.when(F.col("id") == 99, 98).otherwise(F.col("id")).alias("id"),
        F.when(F.col("id") % 5 != 0, F.col("id") % 7).alias("x"),
        # Equal as numbers, not as bits.
        F.when(F.col("id") % 2 == 0, F.lit(-0.0)).otherwise(F.lit(0.0)).alias("z"),
    )
    by_hash = evaluate(rows, CHECKS, NOW)
    by_value = evaluate(rows, CHECKS, NOW, few=True)
    assert [outcome.error for outcome in by_hash] == [None] * len(CHECKS)
    counts = [(outcome.passed, outcome.broken, outcome.of, outcome.observed) for outcome in by_hash]
    assert counts == [
        (outcome.passed, outcome.broken, outcome.of, outcome.observed) for outcome in by_value
    ]
    assert [outcome.broken for outcome in by_hash[:2]] == [2, 0]
    assert [outcome.observed for outcome in by_hash[4:7]] == [7, 99, 0.01]


def test_what_is_asked_twice_is_answered_twice(quick: SparkSession) -> None:
    rows = quick.range(10).select((F.col("id") % 9).alias("id"), F.lit(1).alias("one"))
    entries = [
        {"type": "unique", "column": "id"},
        {"type": "unique", "column": "id", "max_broken": 2},
        {"type": "unique", "column": "id", "where": "id > 0"},
        {"type": "unique", "column": "one"},
        {"type": "query", "sql": "SELECT * FROM {rows} WHERE id = 8"},
        {"type": "query", "sql": "SELECT * FROM {rows} WHERE id = 8", "severity": "warning"},
        {"type": "query", "sql": "SELECT * FROM {rows} WHERE nowhere = 8"},
        {"type": "query", "sql": "SELECT * FROM {rows} WHERE nowhere = 8", "name": "again"},
    ]
    for few in (False, True):
        found = evaluate(rows, planned(entries), NOW, few=few)
        assert [outcome.passed for outcome in found] == [False, True, True, *([False] * 5)]
        assert [outcome.broken for outcome in found[:4]] == [2, 2, 0, 10]
        assert [outcome.error is not None for outcome in found] == [*([False] * 6), True, True]


def test_what_cannot_be_resolved_takes_no_part_in_the_write(quick: SparkSession) -> None:
    checks = planned(
        [
            {"type": "expression", "sql": "nothing > 1"},
            {"type": "not_null", "column": "id"},
            {"type": "not_null", "column": "nowhere"},
        ]
    )
    rows = quick.range(3)
    evaluation = Evaluation(rows.schema, checks, NOW)
    evaluation.resolve_expressions(rows)
    outcomes = evaluation.outcomes(evaluation.measure(rows), {})
    assert list(evaluation.broken_rows()) == [1]
    assert [outcome.passed for outcome in outcomes] == [False, True, False]
    assert [outcome.error.code if outcome.error else None for outcome in outcomes] == [
        "CheckRaised",
        None,
        "ColumnNotThere",
    ]
