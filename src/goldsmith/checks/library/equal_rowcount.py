"""There are as many rows as in another dataset, give or take `tolerance` rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.measures import Extra, Judged, Measured, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="there are not as many rows as in {to}", cost=Cost.LOOKUP)
def equal_rowcount(rows: Rows, context: Context, /, to: str, tolerance: int = 0) -> Extra:
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        ours = all_rows.agg(rows.count().alias("ours"))
        theirs = context.dataset(to).agg(F.count(F.lit(1)).alias("theirs"))
        return ours.crossJoin(theirs)

    def judge(measured: Measured) -> Judged:
        ours, theirs = measured["ours"], measured["theirs"]
        return Judged(
            holds=abs(ours - theirs) <= tolerance,
            observed=ours,
            expected=f"{theirs} rows" + (f", give or take {tolerance}" if tolerance else ""),
        )

    return Extra(plan=plan, judge=judge)
