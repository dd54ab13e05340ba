"""The newest value of a time column, or the newest file that was read, is not too old.

`max_age_hours` may have a fraction. Without `column`, the age of the newest file counts. `empty`
is the result, `pass` or `fail`, where there is no time at all."""

from __future__ import annotations

from datetime import UTC, date, datetime

from goldsmith.checks.bounds import Empty
from goldsmith.checks.check import dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.field import Time
from goldsmith.checks.measures import Judged, KnownTotals, Measured, Total


@dataset_check(says="the newest {column} is older than {max_age_hours} hours")
def freshness(
    context: Context,
    /,
    max_age_hours: float,
    column: Time | None = None,
    empty: Empty = "fail",
) -> Total | KnownTotals:
    from pyspark.sql import functions as F

    expected = f"at most {max_age_hours:g} hours old at {context.now:%Y-%m-%d %H:%M}"

    def judged(newest: datetime | None) -> Judged:
        if newest is None:
            return Judged(holds=empty == "pass", expected=expected)
        age = (context.now - newest.replace(tzinfo=newest.tzinfo or UTC)).total_seconds() / 3600
        return Judged(holds=age <= max_age_hours, observed=newest, expected=expected)

    def judge(measured: Measured) -> Judged:
        newest = measured["newest"]
        if isinstance(newest, date) and not isinstance(newest, datetime):
            newest = datetime(newest.year, newest.month, newest.day)
        return judged(newest)

    if column is None:
        return KnownTotals(judged=judged(context.newest_file))
    # As timestamp_ntz: Spark would hand Python a timestamp in the time zone of this process.
    return Total(measures={"newest": F.max(column.value).cast("timestamp_ntz")}, judge=judge)
