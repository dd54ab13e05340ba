"""The quantile of the column lies between `min` and `max`; 0.5 is the median.

`quantile` may be a list, with lists of bounds. `method: nearest` takes the value of a row (SQL's
percentile_disc), otherwise the quantile is interpolated (percentile_cont)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from goldsmith.checks.bounds import Bounds, Empty
from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Number
from goldsmith.checks.measures import Extra, Judged, Measured
from goldsmith.checks.settings import Share


@dataset_check(
    says="the quantile {quantile} of {column} is out of bounds",
    any_of=("min", "max"),
    cost=Cost.PASS,
)
def quantile(
    column: Number,
    quantile: Share | Sequence[Share],
    min: float | Sequence[float | None] | None = None,
    max: float | Sequence[float | None] | None = None,
    method: Literal["interpolated", "nearest"] = "interpolated",
    empty: Empty = "fail",
) -> Extra:
    from pyspark.sql import functions as F

    wanted = [quantile] if isinstance(quantile, int | float) else list(quantile)
    low, high = _each(min, len(wanted)), _each(max, len(wanted))
    all_bounds = [Bounds(min=lower, max=upper) for lower, upper in zip(low, high, strict=True)]
    function = "percentile_disc" if method == "nearest" else "percentile_cont"
    measures = [
        F.expr(f"{function}({share}) WITHIN GROUP (ORDER BY _value)").alias(f"value_{index}")
        for index, share in enumerate(wanted)
    ]

    def judge(measured: Measured) -> Judged:
        values = [measured[f"value_{index}"] for index in range(len(wanted))]
        judged = [each.judge(value, empty) for each, value in zip(all_bounds, values, strict=True)]
        return Judged(
            holds=all(each.holds for each in judged),
            observed=values if len(values) > 1 else values[0],
            expected=", ".join(each.description for each in all_bounds),
        )

    return Extra(
        plan=lambda rows: rows.select(column.value.alias("_value")).agg(*measures), judge=judge
    )


def _each(bound: float | Sequence[float | None] | None, count: int) -> Sequence[float | None]:
    return [bound] * count if bound is None or isinstance(bound, int | float) else bound
