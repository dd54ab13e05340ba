"""The state of throttles for commands and gates: tokens left, recent use, holders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.throttle_metrics import metric_of
from goldsmith.catalog.throttles import Throttle
from goldsmith.engine.pace.buckets import Clock, filled, is_alive, rate_of, read_throttles
from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import throttle_buckets, throttle_leases, throttle_usage, waits
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables_of_service import (
    ThrottleBucket,
    ThrottleLease,
    ThrottleUsage,
    WaitRow,
)
from goldsmith.journal.waits import is_stale
from goldsmith.registry import UnknownName

#: A request with a shorter wait starts: its stage competes for the next tokens with others.
_LONG_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ThrottleState:
    """A throttle now: tokens left, recent use, holders."""

    throttle: Throttle
    #: Tokens now; negative: a debt. None: it has not been used, or it is no rate.
    tokens: float | None
    #: The share of the threshold in effect.
    effective: float
    refused_at: datetime | None
    refused_because: str | None
    #: Use in the last minute, in the unit of the threshold; of slots: how many are taken.
    rate: float
    #: The leases that are alive.
    holders: tuple[ThrottleLease, ...]
    #: The stages and requests that wait for it.
    waiting: tuple[WaitRow, ...]

    @property
    def problem(self) -> str | None:
        """Why the throttle cannot be used."""
        if metric_of(self.throttle.metric) is None:
            return f"'{self.throttle.metric}' is no metric"
        if not (self.throttle.threshold or 0) > 0:
            return "its threshold is not above zero"
        return None

    def as_plain(self) -> dict[str, Any]:
        metric = metric_of(self.throttle.metric)
        return {
            **self.throttle.as_plain(),
            "unit": metric.unit if metric else None,
            "counts": str(metric.counts) if metric else None,
            "in_effect": (self.throttle.threshold or 0.0) * self.effective,
            "effective": self.effective,
            "rate": self.rate,
            "tokens": self.tokens,
            "refused_at": self.refused_at.isoformat() if self.refused_at else None,
            "refused_because": self.refused_because,
            "holders": [holder.as_plain() for holder in self.holders],
            "waiting": [wait.as_plain() for wait in self.waiting],
            "problem": self.problem,
        }

    @property
    def debt_seconds(self) -> float:
        """How long nothing can be granted, because a debt is paid first."""
        metric = metric_of(self.throttle.metric)
        if metric is None or not metric.is_rate or (self.tokens or 0.0) >= 0:
            return 0.0
        return -(self.tokens or 0.0) / (rate_of(self.throttle).per_second * self.effective)

    @property
    def wait_of_a_request(self) -> str | None:
        """Why a request should not start yet: its first stage would only hold a slot and wait."""
        name, metric = self.throttle.throttle_id, metric_of(self.throttle.metric)
        most = self.throttle.threshold or 0.0
        if metric is not None and not metric.is_rate and len(self.holders) >= most:
            return f"It waits for throttle {name}, {len(self.holders)} of {most:g} stages use it."
        if self.debt_seconds > _LONG_SECONDS:
            return f"It waits for throttle {name}, {self.debt_seconds:.0f} s."
        return None


def current_states(journal: Journal) -> list[ThrottleState]:
    """Every throttle as it is now, by its id."""
    rows = sorted(read_throttles(journal), key=lambda throttle: throttle.throttle_id)
    return states(journal, rows)


def current_state(journal: Journal, throttle_id: str) -> ThrottleState:
    """One throttle as it is now."""
    rows = {throttle.throttle_id: throttle for throttle in read_throttles(journal)}
    if throttle_id not in rows:
        raise UnknownName(noun="throttle", name=throttle_id, known=tuple(rows))
    return states(journal, [rows[throttle_id]])[0]


def states(
    journal: Journal, throttles: Iterable[Throttle], *, clock: Clock = read_clock
) -> list[ThrottleState]:
    """Each throttle as it is now; nothing is changed."""
    with journal.reading() as connection:
        now = clock(connection)
        buckets = row_storage.select(connection, ThrottleBucket, sa.select(throttle_buckets))
        leases = row_storage.select(connection, ThrottleLease, sa.select(throttle_leases))
        recent = throttle_usage.c.minute > now - timedelta(minutes=2)
        usage = row_storage.select(
            connection, ThrottleUsage, sa.select(throttle_usage).where(recent)
        )
        at_gate = row_storage.select(
            connection, WaitRow, sa.select(waits).where(waits.c.gate == "throttle")
        )
    rows = {bucket.throttle_id: bucket for bucket in buckets}
    waiting = [wait for wait in at_gate if not is_stale(wait, now)]
    alive = [lease for lease in leases if is_alive(lease, now)]
    return [
        _state(
            throttle,
            rows.get(throttle.throttle_id),
            tuple(lease for lease in alive if lease.throttle_id == throttle.throttle_id),
            tuple(wait for wait in waiting if _waits_for(wait, throttle.throttle_id)),
            [minute for minute in usage if minute.throttle_id == throttle.throttle_id],
            now,
        )
        for throttle in throttles
    ]


def _state(
    throttle: Throttle,
    row: ThrottleBucket | None,
    holders: tuple[ThrottleLease, ...],
    waiting: tuple[WaitRow, ...],
    usage: Sequence[ThrottleUsage],
    now: datetime,
) -> ThrottleState:
    metric, bucket = metric_of(throttle.metric), None
    rate = float(len(holders))
    if metric is not None and metric.is_rate and (throttle.threshold or 0.0) > 0:
        if row is not None:
            bucket = filled(row, rate_of(throttle), now)
        # The last minute: this one so far, and of the one before the share that is less old.
        minute = now.replace(second=0, microsecond=0)
        share = 1 - (now - minute).total_seconds() / 60
        used = sum((each.used or 0.0) * (1.0 if each.minute == minute else share) for each in usage)
        rate = used / 60 / metric.per_second(1.0)
    return ThrottleState(
        throttle=throttle,
        tokens=None if bucket is None else bucket.tokens,
        effective=1.0 if bucket is None else bucket.effective,
        refused_at=None if row is None else row.refused_at,
        refused_because=None if row is None else row.refused_because,
        rate=rate,
        holders=holders,
        waiting=waiting,
    )


def _waits_for(wait: WaitRow, throttle_id: str) -> bool:
    """Whether the sentence of a wait names the throttle."""
    return f"for throttle {throttle_id}, " in (wait.because or "")
