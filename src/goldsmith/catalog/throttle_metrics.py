"""Throttle metrics: a metric is one file of `scheduling/throttle_metrics`, found by its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from goldsmith.registry import Registry


class Quantity(StrEnum):
    """What a throttle metric counts."""

    RECORDS = "records"
    BYTES = "bytes"
    REQUESTS = "requests"
    #: Stages that run at the same time: a limit, not a rate.
    STAGES = "stages"


@dataclass(frozen=True, kw_only=True)
class ThrottleMetric:
    """A metric of `throttles`: what it counts, and in which amount and time."""

    #: As rows spell it; the file's name is the same in small letters.
    name: str
    counts: Quantity
    #: How many records, bytes or requests one unit of the threshold is.
    amount: float = 1.0
    #: In how many seconds the threshold may be used; None: it limits how many at once.
    seconds: float | None = None
    #: The unit, for people: `records a minute`.
    unit: str

    @property
    def is_rate(self) -> bool:
        return self.seconds is not None

    def per_second(self, threshold: float) -> float:
        """The threshold in records, bytes or requests a second."""
        assert self.seconds is not None  # the caller asks for the rate of a rate
        return threshold * self.amount / self.seconds


METRICS: Registry[ThrottleMetric] = Registry(
    "throttle metric", package="goldsmith.scheduling.throttle_metrics", kind=ThrottleMetric
)


def metric_of(name: str | None) -> ThrottleMetric | None:
    """The metric a row names, in capitals or not; None if there is none."""
    file = (name or "").strip().lower()
    return METRICS.get(file) if file in METRICS else None


def metric_names() -> tuple[str, ...]:
    """Every metric as rows spell it."""
    return tuple(metric.name for _, metric in METRICS.all())
