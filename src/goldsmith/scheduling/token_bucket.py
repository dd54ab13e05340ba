"""The arithmetic of leased token buckets: pure, so that every worker and the tests agree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from goldsmith.catalog.throttle_metrics import metric_names, metric_of
from goldsmith.errors import GoldsmithError, one_of

#: Without `burst` a bucket holds this many seconds' worth: 5 % of a minute.
BURST_SECONDS = 3.0
#: The largest micro-batch, as a share of the burst.
FILL = 0.5
#: Without `safe_threshold` a tenth of the threshold holds while the catalog is unreachable.
_SAFE_SHARE = 0.1
_LEAST_EFFECTIVE = 0.05
_UP_PER_MINUTE = 0.05
_DOWN = 0.5


@dataclass(eq=False, kw_only=True)
class BadThrottle(GoldsmithError):
    """A throttle row cannot be used."""

    because: str

    def __str__(self) -> str:
        return f"The throttle cannot be used: {self.because}."

    @property
    def hint(self) -> str:
        return f"Metrics: {one_of(metric_names())}; thresholds exceed 0."


@dataclass(frozen=True, slots=True)
class Bucket:
    """The state of a throttle's bucket, as its row stores it."""

    #: Tokens there are; negative: debt.
    tokens: float
    #: When `tokens` was computed, seconds since 1970, by the database's clock.
    at: float
    #: 0 to 1: the share of the threshold in effect after the system refused load.
    effective: float = 1.0


@dataclass(frozen=True, slots=True)
class Rate:
    """A threshold in tokens a second, and its burst in tokens."""

    per_second: float
    burst: float
    safe_per_second: float


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer to a worker that wants tokens."""

    bucket: Bucket
    tokens: float
    #: Seconds until tokens may be granted; 0: granted now.
    wait: float


def rate_of(
    metric: str, threshold: float, burst: float | None = None, safe_threshold: float | None = None
) -> Rate:
    """Tokens per second of a throttle row: rows for records, bytes for GB and MB."""
    known = metric_of(metric)
    if known is None or not known.is_rate:
        raise BadThrottle(because=f"'{metric}' is not a metric of a rate")
    for name, value in (("threshold", threshold), ("burst", burst), ("safe", safe_threshold)):
        if value is not None and not 0 < value < float("inf"):
            raise BadThrottle(because=f"its {name} is {value:g}")
    per_second = known.per_second(threshold)
    return Rate(
        per_second=per_second,
        # A burst is written in the metric's own amount: rows, or GB and MB.
        burst=BURST_SECONDS * per_second if burst is None else burst * known.amount,
        safe_per_second=_SAFE_SHARE * per_second
        if safe_threshold is None
        else known.per_second(safe_threshold),
    )


def refill(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    """The bucket at a later time; a clock that went back adds nothing and takes nothing."""
    elapsed = max(0.0, now - bucket.at)
    tokens = bucket.tokens + elapsed * rate.per_second * bucket.effective
    # A burst that was lowered holds at once.
    return replace(bucket, tokens=min(tokens, rate.burst), at=max(now, bucket.at))


def lease(bucket: Bucket, rate: Rate, want: float, now: float) -> Grant:
    """Grant the wanted tokens if the bucket has them, or is half full: then the rest is a debt.

    A wish beyond half the burst is one object that cannot be split, and nothing else is granted
    until its debt is paid: the rate holds over time. It needs no more than other wishes do at
    most, so that many small wishes cannot keep it waiting for ever.
    """
    if want <= 0:
        return Grant(refill(bucket, rate, now), 0.0, 0.0)
    filled = refill(bucket, rate, now)
    needed = min(want, rate.burst * FILL)
    if filled.tokens >= needed * (1 - 1e-9):
        return Grant(replace(filled, tokens=filled.tokens - want), want, 0.0)
    missing = needed - filled.tokens
    return Grant(filled, 0.0, missing / (rate.per_second * filled.effective))


def settle(bucket: Bucket, granted: float, used: float) -> Bucket:
    """Give back tokens that were not used, or charge those used beyond the grant."""
    return replace(bucket, tokens=bucket.tokens + granted - used)


def after_refusal(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    """The system refused load (503, busy): the effective rate halves."""
    filled = refill(bucket, rate, now)
    return replace(filled, effective=max(_LEAST_EFFECTIVE, filled.effective * _DOWN))


def recover(bucket: Bucket, now: float, since: float) -> Bucket:
    """Raise the effective rate by 5 % of the threshold for each minute since `since`.

    Call `refill` first: tokens of the past were earned at the lower rate.
    """
    minutes = max(0.0, now - since) / 60
    return replace(bucket, effective=min(1.0, bucket.effective + _UP_PER_MINUTE * minutes))
