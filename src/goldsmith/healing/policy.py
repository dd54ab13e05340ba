"""Retry policies: whether a failed stage is tried again, and when."""

from __future__ import annotations

from datetime import timedelta

from goldsmith.catalog.retries import RetryPolicy


def retries_left(policy: RetryPolicy | None, failures: int) -> int:
    """How many attempts are left after this many failures; without a policy none."""
    return 0 if policy is None else max(policy.max_retries - failures + 1, 0)


def wait(policy: RetryPolicy, failures: int, chance: float) -> timedelta:
    """The backoff before the next attempt, shortened by the share `jitter` times `chance` (0-1)."""
    seconds = float(policy.backoff_sec)
    for _ in range(failures - 1):
        seconds *= policy.multiplier
        if policy.max_backoff_sec is not None and seconds >= policy.max_backoff_sec:
            break
    if policy.max_backoff_sec is not None:
        seconds = min(seconds, policy.max_backoff_sec)
    # A century at most, so that now + wait is still a valid date.
    seconds = min(seconds * (1 - policy.jitter * chance), 3_155_760_000.0)
    return timedelta(seconds=seconds)
