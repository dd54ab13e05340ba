"""Every value lies less than `max` standard deviations from the mean.

With `both_sides: false` only values above the mean can be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Number
from goldsmith.checks.measures import Counted, Extra

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="{column} lies {max} or more standard deviations off", cost=Cost.PASS)
def z_score(column: Number, max: float, both_sides: bool = True) -> Extra:
    from pyspark.sql import functions as F

    def plan(rows: DataFrame) -> DataFrame:
        values = rows.select(column.value.cast("double").alias("_value")).where(
            F.col("_value").isNotNull()
        )
        spread = values.agg(F.avg("_value").alias("_mean"), F.stddev_samp("_value").alias("_dev"))
        score = F.try_divide(F.col("_value") - F.col("_mean"), F.col("_dev"))
        off = (F.abs(score) if both_sides else score) >= F.lit(float(max))
        return values.crossJoin(F.broadcast(spread)).agg(
            F.count(F.when(off, 1)).alias("broken"), F.count(F.lit(1)).alias("of")
        )

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
