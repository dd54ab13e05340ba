"""Retry policies: whether a failed stage is tried again, and when."""

from __future__ import annotations

from datetime import timedelta

from goldsmith.catalog.retries import RetryPolicy


def retries_left(policy: RetryPolicy | None, failures: int) -> int:
    """How many more tries a stage has that failed so often; without a policy none."""
    return 0 if policy is None else max(policy.max_retries - failures + 1, 0)


def wait(policy: RetryPolicy, failures: int, chance: float) -> timedelta:
    """The wait before the next try; `chance`, 0 to 1, takes up to the share `jitter` of it away."""
    seconds = float(policy.backoff_sec)
    for _ in range(failures - 1):
        seconds *= policy.multiplier
        if policy.max_backoff_sec is not None and seconds >= policy.max_backoff_sec:
            break
    if policy.max_backoff_sec is not None:
        seconds = min(seconds, policy.max_backoff_sec)
    # A century is as good as never, and still a date.
    seconds = min(seconds * (1 - policy.jitter * chance), 3_155_760_000.0)
    return timedelta(seconds=seconds)
