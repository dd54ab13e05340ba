"""The ranges from `lower` to `upper` do not overlap, in the order of `lower`.

`gaps` between a range and the next are `allowed`, `not_allowed` or `required`. With
`empty_ranges`, `lower` may equal `upper`. With `within`, ranges are compared only with rows that
have the same values in those columns. A range with `lower` above `upper` or with a NULL is
broken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Counted, Extra, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="the ranges from {lower} to {upper} are not apart", cost=Cost.PASS)
def ranges_apart(
    rows: Rows,
    /,
    lower: Plain,
    upper: Plain,
    within: Sequence[Plain] = (),
    gaps: Literal["allowed", "not_allowed", "required"] = "allowed",
    empty_ranges: bool = False,
) -> Extra:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        ranges = rows.of(all_rows).select(
            lower.value.alias("_low"),
            upper.value.alias("_high"),
            *(column.value.alias(f"_within_{index}") for index, column in enumerate(within)),
        )
        parts = [f"_within_{index}" for index in range(len(within))]
        window = Window.partitionBy(*parts).orderBy("_low", "_high")
        low, high, following = F.col("_low"), F.col("_high"), F.col("_next")
        forward = low <= high if empty_ranges else low < high
        apart = {"allowed": high <= following, "not_allowed": high == following}
        next_ok = apart.get(gaps, high < following)
        is_last = F.col("_is_last")
        holds = F.coalesce(forward, F.lit(False)) & (is_last | F.coalesce(next_ok, F.lit(False)))
        seen = ranges.withColumn("_next", F.lead("_low").over(window)).withColumn(
            "_is_last", F.lead(F.lit(1)).over(window).isNull()
        )
        return seen.agg(F.count(F.when(~holds, 1)).alias("broken"), F.count(F.lit(1)).alias("of"))

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
