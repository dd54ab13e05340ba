"""The time in the column is at most `tolerance_minutes` after the time of the run."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check
from goldsmith.checks.context import Context
from goldsmith.checks.field import Time

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} lies in the future")
def not_in_future(context: Context, /, column: Time, tolerance_minutes: float = 0) -> Column:
    from pyspark.sql import functions as F

    latest = context.now.astimezone(UTC) + timedelta(minutes=tolerance_minutes)
    limit = F.lit(latest.strftime("%Y-%m-%d %H:%M:%S.%f"))
    return column.value > limit.cast(column.type)
