"""Every value of the column occurs as often as in another dataset.

`to` is the other dataset, `field` its column, by default the column of the same name. NULLs count
as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.field import Field, find
from goldsmith.checks.measures import Counted, Extra, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="{column} has other counts than in {to}", cost=Cost.LOOKUP)
def same_counts(
    rows: Rows, context: Context, /, column: Field, to: str, field: str | None = None
) -> Extra:
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        ours = rows.of(all_rows).select(column.value.alias("_key"), F.lit(1).alias("_one"))
        other = context.dataset(to)
        quoted, _ = find(other.schema, field or column.name, check="same_counts")
        theirs = other.select(F.col(quoted).alias("_key"), F.lit(-1).alias("_one"))
        # Equal counts add up to 0; NULLs are a group like others.
        off = ours.unionAll(theirs).groupBy("_key").agg(F.sum("_one").alias("_off"))
        return off.agg(
            F.count(F.when(F.col("_off") != 0, 1)).alias("broken"), F.count(F.lit(1)).alias("of")
        )

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
