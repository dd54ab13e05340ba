"""A profile says nothing of many different values that is not so."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from goldsmith.checks.profile import profile
from goldsmith.checks.suggest import suggest

ROWS = 30_000


def test_many_different_values_are_not_said_to_repeat(quick: SparkSession) -> None:
    number = F.col("id")
    rows = quick.range(ROWS).select(
        F.concat(F.lit("ORD-"), number).alias("order.id"),  # more than the sketch can watch
        F.greatest(number, F.lit(1)).alias("nearly"),
        F.when(number % 5 == 0, 7).otherwise(number).alias("often"),
        F.when(number % 2 == 0, number).alias("half"),
    )
    found = {column.name: column for column in profile(rows)}

    assert (found["order.id"].distinct, found["order.id"].is_unique) == (ROWS, True)
    assert list(found["order.id"].top) == []
    assert (found["nearly"].is_unique, list(found["nearly"].top)) == (False, [])
    assert [value for value, _ in found["often"].top] == [7]
    assert (found["half"].distinct, found["half"].is_unique) == (ROWS // 2, True)
    suggested = [check["column"] for check, _ in suggest([*found.values()])
                 if check["type"] == "unique"]  # fmt: skip
    assert suggested == ["order.id", "half"]


def test_few_different_values_are_counted_exactly(quick: SparkSession) -> None:
    rows = quick.range(100).select(F.when(F.col("id") < 97, F.col("id") % 2).alias("n"))
    (found,) = profile(rows)
    assert (found.nulls, found.distinct, found.is_unique) == (3, 2, False)
    assert list(found.top) == [(0, 49), (1, 48)]
