"""Records in each minute: those of the files read, or those loaded."""

from __future__ import annotations

from goldsmith.catalog.throttle_metrics import Quantity, ThrottleMetric

records_per_minute = ThrottleMetric(
    name="records_per_minute",
    counts=Quantity.RECORDS,
    seconds=60,
    unit="records a minute",
)
