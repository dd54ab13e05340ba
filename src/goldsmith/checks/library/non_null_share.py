"""The share of rows in which the column is not NULL lies between `min` and `max`.

Without rows the share is `of_nothing`; with `of_nothing: pass` the check passes."""

from __future__ import annotations

from typing import Literal

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Measured, Rows, Total
from goldsmith.checks.settings import Share


@dataset_check(says="the share of values in {column} is out of bounds", any_of=("min", "max"))
def non_null_share(
    rows: Rows,
    /,
    column: Field,
    min: float | None = None,
    max: float | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
    of_nothing: Share | Literal["pass"] = 1.0,
) -> Total:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)

    def judge(measured: Measured) -> Judged:
        total = measured["total"]
        return (
            bounds.judge(measured["there"] / total) if total else bounds.judge_nothing(of_nothing)
        )

    return Total(measures={"total": rows.count(), "there": F.count(column.value)}, judge=judge)
