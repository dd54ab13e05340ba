"""Token buckets of this process alone, at the safe rate, while the catalog cannot be reached."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from goldsmith.catalog.throttles import Throttle
from goldsmith.engine.pace.buckets import (
    HeldTokens,
    TokenWait,
    TokenWish,
    known_metric,
    rate_of,
)
from goldsmith.journal.ids import new_id
from goldsmith.scheduling import token_bucket
from goldsmith.scheduling.token_bucket import BURST_SECONDS, Bucket, Rate

_SAFE_SHARE = 0.1


class SafeBuckets:
    """The buckets of one process; its stages share them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, Bucket] = {}
        self._slots: defaultdict[str, int] = defaultdict(int)
        self._held: dict[str, HeldTokens] = {}

    def acquire(self, wishes: Sequence[TokenWish]) -> HeldTokens | TokenWait:
        """Take the tokens of all throttles at once, or none of them."""
        with self._lock:
            now, after = self._clock(), {}
            for wish in wishes:
                found = self._granted(wish, now)
                if isinstance(found, TokenWait):
                    return found
                if found is not None:
                    after[wish.throttle.throttle_id] = found
            self._buckets |= after
            held = HeldTokens(
                lease_id=new_id("safe"),
                granted={wish.throttle.throttle_id: wish.tokens for wish in wishes},
            )
            for wish in wishes:
                if wish.throttle.throttle_id not in after:
                    self._slots[wish.throttle.throttle_id] += 1
            self._held[held.lease_id] = held
            return held

    def _granted(self, wish: TokenWish, now: float) -> Bucket | TokenWait | None:
        throttle = wish.throttle
        name = throttle.throttle_id
        if not known_metric(throttle).is_rate:
            most = max(_safe_threshold(throttle), 1.0)
            if self._slots[name] < most:
                return None
            because = f"{self._slots[name]} of {most:g} stages use it; the catalog does not answer"
            return TokenWait(throttle_id=name, seconds=1.0, because=because)
        rate = safe_rate(rate_of(throttle))
        bucket = self._buckets.get(name, Bucket(rate.burst, now))
        grant = token_bucket.lease(bucket, rate, wish.tokens, now)
        if grant.wait > 0:
            seconds = max(1, round(grant.wait))
            because = f"{seconds} s, at its safe rate: the catalog does not answer"
            return TokenWait(throttle_id=name, seconds=grant.wait, because=because)
        return grant.bucket

    def settle(self, lease_id: str, used: dict[str, float]) -> bool:
        """End a lease of this process; False if it is none."""
        with self._lock:
            held = self._held.pop(lease_id, None)
            if held is None:
                return False
            for name, granted in held.granted.items():
                if name in self._buckets:
                    actual = used.get(name, granted)
                    self._buckets[name] = token_bucket.settle(self._buckets[name], granted, actual)
                else:
                    self._slots[name] -= 1
            return True


def safe_rate(rate: Rate) -> Rate:
    """The rate that applies without the catalog; its burst shrinks as well."""
    share = rate.safe_per_second / rate.per_second
    burst = min(rate.burst * share, rate.safe_per_second * BURST_SECONDS)
    return replace(rate, per_second=rate.safe_per_second, burst=burst)


def _safe_threshold(throttle: Throttle) -> float:
    if throttle.safe_threshold is not None:
        return throttle.safe_threshold
    return (throttle.threshold or 0.0) * _SAFE_SHARE
