"""Leased token buckets of throttles in the catalog's database, shared by all workers.

Time is the database's clock. The row of a bucket is locked while tokens are taken, always in the
order of the throttles' ids. A process that dies keeps its tokens until its lease expires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.definitions import Moment, table_of
from goldsmith.catalog.throttle_metrics import ThrottleMetric, metric_of
from goldsmith.catalog.throttles import Throttle
from goldsmith.journal import row_storage
from goldsmith.journal.clock import later, read_clock
from goldsmith.journal.definitions import throttle_buckets, throttle_leases, throttle_usage
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal
from goldsmith.journal.leases import SECONDS
from goldsmith.journal.owners import is_gone
from goldsmith.journal.tables_of_service import ThrottleBucket, ThrottleLease
from goldsmith.scheduling import token_bucket
from goldsmith.scheduling.token_bucket import BadThrottle, Bucket, Rate

Clock = Callable[[sa.Connection], datetime]

#: How long the use of each minute is kept.
_KEPT = timedelta(days=1)
#: When a stage looks again whether a slot of `concurrent_stages` is free.
_SLOT_SECONDS = 1.0
_BUCKET = sa.select(throttle_buckets).where(
    throttle_buckets.c.throttle_id == sa.bindparam("throttle")
)
_LEASES = sa.select(throttle_leases).where(
    throttle_leases.c.throttle_id == sa.bindparam("throttle")
)
_NEW = sa.text(
    "INSERT INTO throttle_buckets (throttle_id, tokens, counted_at, effective, recovered_at)"
    " VALUES (:throttle, :tokens, :at, 1.0, :at) ON CONFLICT (throttle_id) DO NOTHING"
).bindparams(sa.bindparam("at", type_=Moment()))
_USE = sa.text(
    "INSERT INTO throttle_usage (throttle_id, minute, used) VALUES (:throttle, :minute, :used)"
    " ON CONFLICT (throttle_id, minute) DO UPDATE SET used = throttle_usage.used + excluded.used"
).bindparams(sa.bindparam("minute", type_=Moment()))


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenWish:
    """The tokens that a micro-batch needs of one throttle; for a slot 1."""

    throttle: Throttle
    tokens: float


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldTokens:
    """The tokens that a micro-batch holds, or the slots of a stage, by throttle."""

    lease_id: str
    granted: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenWait:
    """Why no tokens were granted, and when to ask again."""

    throttle_id: str
    seconds: float
    because: str


def read_throttles(journal: Journal) -> list[Throttle]:
    """The rows of `throttles` as they are now."""
    with journal.reading() as connection:
        return row_storage.select(connection, Throttle, sa.select(table_of(Throttle)))


def rate_of(throttle: Throttle) -> Rate:
    """The rate of a throttle; raises if a value in its row is none."""
    try:
        return token_bucket.rate_of(
            throttle.metric or "",
            throttle.threshold or 0.0,
            throttle.burst,
            throttle.safe_threshold,
        )
    except BadThrottle as error:
        raise BadThrottle(because=f"{error.because} ({throttle.throttle_id})") from error


def known_metric(throttle: Throttle) -> ThrottleMetric:
    """The metric of a throttle that is in use."""
    metric = metric_of(throttle.metric)
    if metric is None:
        raise BadThrottle(because=f"'{throttle.metric}' is no metric ({throttle.throttle_id})")
    return metric


def acquire(
    journal: Journal,
    wishes: Sequence[TokenWish],
    *,
    owner: str,
    stage_run_id: str | None = None,
    clock: Clock = read_clock,
) -> HeldTokens | TokenWait:
    """Take the tokens of all throttles at once, or none of them."""
    in_order = sorted(wishes, key=lambda wish: wish.throttle.throttle_id)
    with database.writing(journal.engine, lasts=False) as connection:
        buckets = [_locked(connection, wish.throttle, clock) for wish in in_order]
        now = clock(connection)
        waits, after = [], []
        for wish, before in zip(in_order, buckets, strict=True):
            bucket, alive = _reclaimed(connection, before, now)
            found = _granted(wish, bucket, alive, now)
            if isinstance(found, TokenWait):
                waits.append(found)
            after.append((wish, bucket, found))
        if waits:
            return max(waits, key=lambda wait: wait.seconds)
        lease_id = new_id("tokens")
        for wish, bucket, found in after:
            if isinstance(found, Bucket):
                _store(connection, bucket.throttle_id, found, now)
                _use(connection, bucket.throttle_id, now, wish.tokens)
            lease = ThrottleLease(
                lease_id=lease_id,
                throttle_id=bucket.throttle_id,
                owner=owner,
                stage_run_id=stage_run_id,
                tokens=wish.tokens,
                granted_at=now,
            )
            row_storage.insert(connection, lease, expires_at=later(SECONDS))
    granted = {wish.throttle.throttle_id: wish.tokens for wish in in_order}
    return HeldTokens(lease_id=lease_id, granted=granted)


def _locked(connection: sa.Connection, throttle: Throttle, clock: Clock) -> ThrottleBucket:
    """The bucket's row, locked until the transaction ends; a new bucket is full."""
    given = {"throttle": throttle.throttle_id}
    found = row_storage.select(connection, ThrottleBucket, _BUCKET.with_for_update(), given)
    if not found:
        full = rate_of(throttle).burst if known_metric(throttle).is_rate else 0.0
        connection.execute(_NEW, {**given, "tokens": full, "at": clock(connection)})
        found = row_storage.select(connection, ThrottleBucket, _BUCKET.with_for_update(), given)
    return found[0]


def _reclaimed(
    connection: sa.Connection, bucket: ThrottleBucket, now: datetime
) -> tuple[ThrottleBucket, int]:
    """The bucket with the tokens of dead processes, and how many leases are alive."""
    given = {"throttle": bucket.throttle_id}
    leases = row_storage.select(connection, ThrottleLease, _LEASES, given)
    dead = [lease for lease in leases if not is_alive(lease, now)]
    for lease in dead:
        _forget(connection, lease)
        _use(connection, bucket.throttle_id, lease.granted_at or now, -(lease.tokens or 0.0))
    if dead:
        tokens = (bucket.tokens or 0.0) + sum(lease.tokens or 0.0 for lease in dead)
        bucket = bucket.with_(tokens=tokens)
        row_storage.update(connection, ThrottleBucket, _key(bucket.throttle_id), tokens=tokens)
    return bucket, len(leases) - len(dead)


def is_alive(lease: ThrottleLease, now: datetime) -> bool:
    """Whether the process that holds a lease is alive, or may be."""
    return lease.expires_at is not None and lease.expires_at > now and not is_gone(lease.owner)


def _granted(
    wish: TokenWish, row: ThrottleBucket, alive: int, now: datetime
) -> Bucket | TokenWait | None:
    """The bucket after the wish, or the wait for it; None: a slot was granted."""
    throttle = wish.throttle
    name = throttle.throttle_id
    if not known_metric(throttle).is_rate:
        most = throttle.threshold or 0.0
        if not most > 0:
            raise BadThrottle(because=f"its threshold is {most:g} ({name})")
        if alive < most:
            return None
        because = f"{alive} of {most:g} stages use it"
        return TokenWait(throttle_id=name, seconds=_SLOT_SECONDS, because=because)
    rate = rate_of(throttle)
    grant = token_bucket.lease(filled(row, rate, now), rate, wish.tokens, now.timestamp())
    if grant.wait > 0:
        because = f"{max(1, round(grant.wait))} s"
        return TokenWait(throttle_id=name, seconds=grant.wait, because=because)
    return grant.bucket


def filled(row: ThrottleBucket, rate: Rate, now: datetime) -> Bucket:
    """The bucket now: refilled at the rate in effect, which has recovered since."""
    at = row.counted_at or now
    bucket = Bucket(
        tokens=rate.burst if row.tokens is None else row.tokens,
        at=at.timestamp(),
        effective=1.0 if row.effective is None else row.effective,
    )
    filled = token_bucket.refill(bucket, rate, now.timestamp())
    since = row.recovered_at or at
    return token_bucket.recover(filled, now.timestamp(), since.timestamp())


def _store(connection: sa.Connection, throttle_id: str, bucket: Bucket, now: datetime) -> None:
    row_storage.update(
        connection,
        ThrottleBucket,
        _key(throttle_id),
        tokens=bucket.tokens,
        counted_at=now,
        effective=bucket.effective,
        recovered_at=now,
    )


def _use(connection: sa.Connection, throttle_id: str, at: datetime, used: float) -> None:
    minute = at.replace(second=0, microsecond=0)
    connection.execute(_USE, {"throttle": throttle_id, "minute": minute, "used": used})
    old = (throttle_usage.c.throttle_id == throttle_id) & (throttle_usage.c.minute < at - _KEPT)
    connection.execute(sa.delete(throttle_usage).where(old))


def _forget(connection: sa.Connection, lease: ThrottleLease) -> None:
    of_lease = throttle_leases.c.lease_id == lease.lease_id
    of_throttle = throttle_leases.c.throttle_id == lease.throttle_id
    connection.execute(sa.delete(throttle_leases).where(of_lease, of_throttle))


def _key(throttle_id: str) -> dict[str, str]:
    return {"throttle_id": throttle_id}


def settle(
    journal: Journal, held: HeldTokens, used: Mapping[str, float], *, clock: Clock = read_clock
) -> None:
    """End a lease: tokens that were not used come back, tokens used beyond it are charged."""
    with database.writing(journal.engine, lasts=False) as connection:
        for throttle_id in sorted(held.granted):
            given = {"throttle": throttle_id}
            found = row_storage.select(connection, ThrottleBucket, _BUCKET.with_for_update(), given)
            leases = row_storage.select(connection, ThrottleLease, _LEASES, given)
            mine = next((lease for lease in leases if lease.lease_id == held.lease_id), None)
            actual = used.get(throttle_id, held.granted[throttle_id])
            # If the lease had expired, its tokens have come back already.
            granted = 0.0 if mine is None else mine.tokens or 0.0
            if mine is not None:
                _forget(connection, mine)
            if not found or throttle_id not in used:
                continue
            row = found[0]
            row_storage.update(
                connection,
                ThrottleBucket,
                _key(throttle_id),
                tokens=token_bucket.settle(Bucket(row.tokens or 0.0, 0.0), granted, actual).tokens,
            )
            at = mine.granted_at if mine is not None else None
            _use(connection, throttle_id, at or clock(connection), actual - granted)


def renew(journal: Journal, held: HeldTokens) -> None:
    """Extend a lease, so that its tokens do not come back while it is in use."""
    mine = throttle_leases.c.lease_id == held.lease_id
    with database.writing(journal.engine, lasts=False) as connection:
        connection.execute(sa.update(throttle_leases).where(mine).values(expires_at=later(SECONDS)))


def lower(
    journal: Journal, throttles: Iterable[Throttle], because: str, *, clock: Clock = read_clock
) -> None:
    """Halve the rate in effect after the system refused load."""
    rates = [throttle for throttle in throttles if known_metric(throttle).is_rate]
    with database.writing(journal.engine, lasts=False) as connection:
        for throttle in sorted(rates, key=lambda throttle: throttle.throttle_id):
            row, rate = _locked(connection, throttle, clock), rate_of(throttle)
            now = clock(connection)
            bucket = token_bucket.after_refusal(filled(row, rate, now), rate, now.timestamp())
            _store(connection, throttle.throttle_id, bucket, now)
            row_storage.update(
                connection,
                ThrottleBucket,
                _key(throttle.throttle_id),
                refused_at=now,
                refused_because=because,
            )
