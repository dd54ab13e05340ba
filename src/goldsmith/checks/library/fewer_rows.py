"""There are fewer rows than in another dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.measures import Extra, Judged, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="there are not fewer rows than in {to}", cost=Cost.LOOKUP)
def fewer_rows(rows: Rows, context: Context, /, to: str) -> Extra:
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        ours = all_rows.agg(rows.count().alias("ours"))
        return ours.crossJoin(context.dataset(to).agg(F.count(F.lit(1)).alias("theirs")))

    return Extra(
        plan=plan,
        judge=lambda measured: Judged(
            holds=measured["ours"] < measured["theirs"],
            observed=measured["ours"],
            expected=f"fewer than {measured['theirs']} rows",
        ),
    )
