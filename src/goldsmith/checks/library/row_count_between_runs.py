"""The number of rows is between `min` and `max` times that of the last published run.

The first run passes: there is no run to compare with."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.measures import Judged, Measured, Rows, Total


@dataset_check(
    says="the number of rows differs from the last run's by too much", any_of=("min", "max")
)
def row_count_between_runs(
    rows: Rows, context: Context, /, min: float | None = None, max: float | None = None
) -> Total:
    def judge(measured: Measured) -> Judged:
        found, last = measured["found"], next(iter(context.row_counts()), None)
        if last is None:
            return Judged(holds=True, observed=found, expected="anything in a first run")
        bounds = Bounds(
            min=None if min is None else min * last, max=None if max is None else max * last
        )
        return bounds.judge(found)

    return Total(measures={"found": rows.count()}, judge=judge)
