"""Thresholds per partition: the allowed share or number of broken rows holds in each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.field import find
from goldsmith.checks.planned_check import PlannedCheck

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: The names of the measures of partitions.
MEASURES = ("parts_broken", "parts", "worst_part")


def columns_of(planned: PlannedCheck, schema: StructType) -> list[Column]:
    """The columns that partition the rows of a check: its setting `per`."""
    from pyspark.sql import functions as F

    return [F.col(find(schema, column, check=planned.check.name)[0]) for column in planned.per]


def worst(
    rows: DataFrame, planned: PlannedCheck, per: list[Column], broken: Column, applies: Column
) -> DataFrame:
    """One row: partitions with too many broken rows, all partitions, and the worst partition."""
    from pyspark.sql import functions as F

    shown = F.concat_ws(", ", *(F.coalesce(column.cast("string"), F.lit("NULL")) for column in per))
    parts = (
        rows.groupBy(*(column.alias(f"_per_{index}") for index, column in enumerate(per)))
        .agg(
            F.count(F.when(broken, 1)).alias("_broken"),
            F.count(F.when(applies, 1)).alias("_of"),
            F.first(shown).alias("_shown"),
        )
        .where("_of > 0")
    )
    if planned.max_broken is not None:
        too_many = F.col("_broken") > planned.max_broken
    else:
        share = (F.col("_of") - F.col("_broken")).cast("double") / F.col("_of")
        too_many = (F.col("_broken") > 0) & (share < F.lit(float(planned.mostly)))
    return parts.agg(
        F.count(F.when(too_many, 1)).alias("parts_broken"),
        F.count(F.lit(1)).alias("parts"),
        F.max_by(F.when(too_many, F.col("_shown")), F.when(too_many, F.col("_broken"))).alias(
            "worst_part"
        ),
    )
