"""Gigabytes of 10⁹ stored bytes in each hour: the sizes of the files read, or of those loaded."""

from __future__ import annotations

from goldsmith.catalog.throttle_metrics import Quantity, ThrottleMetric

gb_per_hour = ThrottleMetric(
    name="GB_per_hour",
    counts=Quantity.BYTES,
    amount=1e9,
    seconds=3600,
    unit="GB an hour",
)
