"""Megabytes of 10⁶ stored bytes in each second: the sizes of the files read, or of those loaded."""

from __future__ import annotations

from goldsmith.catalog.throttle_metrics import Quantity, ThrottleMetric

mb_per_second = ThrottleMetric(
    name="MB_per_second",
    counts=Quantity.BYTES,
    amount=1e6,
    seconds=1,
    unit="MB a second",
)
