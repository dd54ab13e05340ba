"""The number of rows is similar to that of the last `runs` published runs.

`method: mad` measures the distance from their median in median absolute deviations, scaled to a
standard deviation; `method: average` measures the distance from their average as a share of it. A
distance above `threshold` (by default 3.5 for mad, 0.5 for average) is an anomaly. With fewer than
`min_runs` runs the check passes."""

from __future__ import annotations

from statistics import fmean, median
from typing import Literal

from goldsmith.checks.check import dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.measures import Judged, Measured, Rows, Total

_USUAL = {"mad": 3.5, "average": 0.5}
#: For normally distributed numbers: the median absolute deviation / the standard deviation.
_OF_DEVIATION = 0.6745


@dataset_check(says="the number of rows is unlike the last runs'")
def volume_anomaly(
    rows: Rows,
    context: Context,
    /,
    method: Literal["mad", "average"] = "mad",
    threshold: float | None = None,
    runs: int = 30,
    min_runs: int = 3,
) -> Total:
    most = _USUAL[method] if threshold is None else threshold

    def judge(measured: Measured) -> Judged:
        found, before = measured["found"], list(context.row_counts())[:runs]
        if len(before) < min_runs:
            return Judged(holds=True, observed=found, expected=f"{min_runs} runs to compare with")
        usual = median(before) if method == "mad" else fmean(before)
        if method == "mad":
            spread = median(abs(count - usual) for count in before) / _OF_DEVIATION
        else:
            spread = abs(usual)
        return Judged(
            holds=abs(found - usual) <= most * spread,
            observed=found,
            expected=f"{usual:.10g}, give or take {most * spread:.4g}",
        )

    return Total(measures={"found": rows.count()}, judge=judge)
