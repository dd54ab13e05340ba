"""The arithmetic of leased token buckets: pure, so that every worker and the tests agree."""

from __future__ import annotations

from dataclasses import dataclass


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
    """The answer to a worker that asks for tokens."""

    bucket: Bucket
    tokens: float
    #: Seconds until tokens may be granted; 0: granted now.
    wait: float


def rate_of(
    metric: str, threshold: float, burst: float | None = None, safe_threshold: float | None = None
) -> Rate:
    """Tokens per second of a throttle row: rows for records, bytes for GB and MB."""
    raise NotImplementedError


def lease(bucket: Bucket, rate: Rate, want: float, now: float) -> Grant:
    """Grant up to `want` tokens; a full bucket grants more than it has, as debt, to one object."""
    raise NotImplementedError


def settle(bucket: Bucket, granted: float, used: float) -> Bucket:
    """Give back tokens that were not used, or charge those used beyond the grant."""
    raise NotImplementedError


def after_refusal(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    """The system refused load (503, busy): the effective rate halves."""
    raise NotImplementedError


def recover(bucket: Bucket, now: float, since: float) -> Bucket:
    """Raise the effective rate additively, 5 % of the threshold for each minute without refusal."""
    raise NotImplementedError
