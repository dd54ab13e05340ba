"""Requests in each minute: each file that is read or loaded counts once."""

from __future__ import annotations

from goldsmith.catalog.throttle_metrics import Quantity, ThrottleMetric

requests_per_minute = ThrottleMetric(
    name="requests_per_minute",
    counts=Quantity.REQUESTS,
    seconds=60,
    unit="requests a minute",
)
