"""The sum of a column, or the number of rows, agrees with another dataset's.

`column` is summed here, and `field` (by default the column of the same name) in the dataset `to`;
without `column` the rows are counted. The totals may differ by `tolerance`, a share of the other
dataset's total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.field import Number, OfKind, find
from goldsmith.checks.measures import Extra, Judged, Measured, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="the total does not agree with {to}", cost=Cost.LOOKUP)
def reconciliation(
    rows: Rows,
    context: Context,
    /,
    to: str,
    column: Number | None = None,
    field: str | None = None,
    tolerance: float = 0,
) -> Extra:
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        other = context.dataset(to)
        if column is None:
            ours, theirs = rows.count(), F.count(F.lit(1))
        else:
            quoted, _ = find(
                other.schema,
                field or column.name,
                check="reconciliation",
                needs=OfKind("number"),
            )
            ours, theirs = F.sum(column.value), F.sum(F.col(quoted))
        nothing = F.lit(0)
        return all_rows.agg(F.coalesce(ours, nothing).alias("ours")).crossJoin(
            other.agg(F.coalesce(theirs, nothing).alias("theirs"))
        )

    def judge(measured: Measured) -> Judged:
        ours, theirs = measured["ours"], measured["theirs"]
        return Judged(
            holds=abs(ours - theirs) <= tolerance * abs(theirs),
            observed=ours,
            expected=f"{theirs}" + (f", give or take {tolerance:.4%}" if tolerance else ""),
        )

    return Extra(plan=plan, judge=judge)
