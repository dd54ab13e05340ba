"""Rows in their order: each value against the one before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.field import Field
from goldsmith.checks.measures import Counted, Extra, Rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def each_after_the_last(
    rows: Rows,
    field: Field,
    is_broken: Callable[[Column, Column], Column],
    *,
    by: Sequence[Field],
    within: Sequence[Field],
    nulls: Literal["skip", "part"] = "skip",
) -> Extra:
    """Rows broken by comparison of a value with the last one.

    NULLs are passed over, or part the value after one from those before it. Without columns to
    order by, rows come as they lie in the dataset.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        spoken_of = rows.of(all_rows).select(
            field.value.alias("_value"),
            *(one.value.alias(f"_by_{place}") for place, one in enumerate(by)),
            *(one.value.alias(f"_within_{place}") for place, one in enumerate(within)),
            F.monotonically_increasing_id().alias("_place"),
        )
        order = [f"_by_{place}" for place in range(len(by))] or ["_place"]
        parts = [f"_within_{place}" for place in range(len(within))]
        window = Window.partitionBy(*parts).orderBy(*order)
        value, last = F.col("_value"), F.lag("_value").over(window)
        compared = spoken_of.where(value.isNotNull()) if nulls == "skip" else spoken_of
        broken = F.when(is_broken(value, F.col("_last")), 1)
        return compared.withColumn("_last", last).agg(
            F.count(broken).alias("broken"), F.count(value).alias("of")
        )

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
