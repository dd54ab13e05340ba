"""Records in each second: those of the files read, or those loaded."""

from __future__ import annotations

from goldsmith.catalog.throttle_metrics import Quantity, ThrottleMetric

records_per_second = ThrottleMetric(
    name="records_per_second",
    counts=Quantity.RECORDS,
    seconds=1,
    unit="records a second",
)
