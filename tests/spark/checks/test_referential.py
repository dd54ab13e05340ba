"""References are counted alike, whether the other dataset is small or not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import evaluate
from goldsmith.checks.planned_check import planned
from goldsmith.checks.sizes import is_broadcast

LIMIT = "spark.sql.autoBroadcastJoinThreshold"


@pytest.mark.parametrize("limit", ["10485760", "1", "-1"])
def test_rows_without_the_other_are_counted_each(quick: SparkSession, limit: str) -> None:
    spark = quick.newSession()
    spark.conf.set(LIMIT, limit)
    # Known twice, a row is still one row.
    known = spark.sql("VALUES (1, 'a'), (1, 'a'), (2, 'b'), (NULL, 'c') AS known(n, s)")
    rows = spark.createDataFrame(
        [(1, "a"), (1, "a"), (1, "b"), (7, "a"), (7, "a"), (None, "c")], "n int, s string"
    )
    assert is_broadcast(known) == (limit == "10485760")
    entries = [
        {"type": "referential", "column": "n", "to": "known"},
        {"type": "referential", "columns": ["n", "s"], "to": "known"},
        {"type": "referential", "column": "n", "to": "known", "where": "s = 'b'"},
    ]
    context = Context(now=datetime(2026, 1, 10, tzinfo=UTC), dataset=lambda _: known)
    found = evaluate(rows, planned(entries, context=context), context)
    assert [(outcome.broken, outcome.of) for outcome in found] == [(2, 5), (3, 5), (0, 1)]
