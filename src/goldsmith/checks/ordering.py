"""Compare each value with the one before it, in the order of the rows."""

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
    """Count rows whose value compares wrongly with the one before.

    NULLs are skipped; with `part`, the value after a NULL is not compared. Without columns to
    order by, rows are in the order of the dataset.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        selected = rows.of(all_rows).select(
            field.value.alias("_value"),
            *(column.value.alias(f"_by_{index}") for index, column in enumerate(by)),
            *(column.value.alias(f"_within_{index}") for index, column in enumerate(within)),
            F.monotonically_increasing_id().alias("_place"),
        )
        order = [f"_by_{index}" for index in range(len(by))] or ["_place"]
        parts = [f"_within_{index}" for index in range(len(within))]
        window = Window.partitionBy(*parts).orderBy(*order)
        value, last = F.col("_value"), F.lag("_value").over(window)
        compared = selected.where(value.isNotNull()) if nulls == "skip" else selected
        broken = F.when(is_broken(value, F.col("_last")), 1)
        return compared.withColumn("_last", last).agg(
            F.count(broken).alias("broken"), F.count(value).alias("of")
        )

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
