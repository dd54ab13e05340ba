"""Stages that use the dataset at the same time, over all workers."""

from __future__ import annotations

from goldsmith.catalog.throttle_metrics import Quantity, ThrottleMetric

concurrent_stages = ThrottleMetric(
    name="concurrent_stages",
    counts=Quantity.STAGES,
    unit="stages at once",
)
