"""Leases: which process may write a target now, with a fencing token that only rises.

A lease expires by the database's clock; the lease of a dead process of this host is free at once.
Releasing a lease keeps its row, because the token must never decrease.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.prepared import Prepared
from goldsmith.journal import errors, events, row_storage
from goldsmith.journal.clock import later, now
from goldsmith.journal.definitions import leases
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner, is_gone
from goldsmith.journal.tables import Lease

#: How long an owner keeps a lease without a heartbeat, and how often it sends one.
SECONDS = 15.0
HEARTBEAT_SECONDS = 3.0

_FREED: Mapping[str, Any] = dict.fromkeys(
    ("owner", "host", "pid", "run_id", "stage_run_id", "acquired_at", "expires_at")
)

_LOOKING = sa.select(leases, (leases.c.expires_at <= now()).label("expired")).where(
    leases.c.resource == sa.bindparam("resource")
)
_LOOK, _LOOK_AND_KEEP = Prepared(_LOOKING), Prepared(_LOOKING.with_for_update())
_MINE = sa.select(leases.c.token).where(
    leases.c.resource == sa.bindparam("resource"),
    leases.c.token == sa.bindparam("token"),
    leases.c.owner == sa.bindparam("owner"),
)


def acquire(
    journal: Journal,
    resource: str,
    owner: Owner,
    *,
    seconds: float = SECONDS,
    run_id: str | None = None,
    stage_run_id: str | None = None,
    connection: sa.Connection | None = None,
) -> Lease | None:
    """Acquire a lease that is free, expired or held by a dead process; None if it is held.

    The owner that holds it already is refused too: two stages of one process are two writers.
    """
    # With SQLite every owner is on this host, so after a power cut no owner is alive either:
    # the write need not be durable.
    with journal.writing(connection, lasts=False) as writing:
        # The transaction is the only writer, so nobody can acquire between the read and the update.
        found = _look(writing, resource, keep=True)
        before = found[0] if found else _new(writing, resource)
        left = _why_free(before, found is not None and found[1])
        if left is None:
            return None
        taken = row_storage.update(
            writing,
            Lease,
            {"resource": resource},
            token=_highest(writing) + 1,
            owner=str(owner),
            host=owner.host,
            pid=owner.pid,
            run_id=run_id,
            stage_run_id=stage_run_id,
            acquired_at=now(),
            expires_at=later(seconds),
        )
        assert taken is not None  # the row was read or inserted above, and this is the only writer
        happened = events.LeaseTaken(
            actor=taken.owner,
            run_id=run_id,
            stage_run_id=stage_run_id,
            resource=resource,
            token=taken.token,
            owner=taken.owner,
            taken_from=before.owner,
            because=left or None,
        )
        journal.record(happened, connection=writing)
    return taken


def _new(connection: sa.Connection, resource: str) -> Lease:
    """Insert the row of a lease that was never held."""
    return row_storage.insert(connection, Lease(resource=resource, token=0))


def _highest(connection: sa.Connection) -> int:
    """The highest token of all leases.

    Tokens order the loads of a target. A target whose location changes, or changes back, gets
    another lease, and its tokens must still rise.
    """
    return connection.execute(sa.select(sa.func.max(leases.c.token))).scalar() or 0


def heartbeat(journal: Journal, lease: Lease, *, seconds: float = SECONDS) -> Lease:
    """Extend a lease; raises LeaseLost if another process acquired it."""
    # Unlike `Journal.writing` this waits for no lock: many writers must not make a lease expire.
    with database.writing(journal.engine, lasts=False) as connection:
        kept = renew(connection, lease, seconds=seconds)
    if kept is None:
        raise _lost(journal, lease)
    return kept


def renew(connection: sa.Connection, lease: Lease, *, seconds: float = SECONDS) -> Lease | None:
    """Extend a lease within a transaction; None if another process acquired it."""
    return row_storage.update(connection, Lease, _held(lease), expires_at=later(seconds))


def release(journal: Journal, lease: Lease, *, connection: sa.Connection | None = None) -> bool:
    """Release a lease; False if it was lost already."""
    with journal.writing(connection, lasts=False) as writing:
        return row_storage.update(writing, Lease, _held(lease), **_FREED) is not None


def free_all(
    journal: Journal,
    *,
    owner: str | None = None,
    run_id: str | None = None,
    stage_run_id: str | None = None,
    connection: sa.Connection | None = None,
) -> int:
    """Release all leases of an owner, a run or a stage run."""
    named = {"owner": owner, "run_id": run_id, "stage_run_id": stage_run_id}
    matches = [leases.c[name] == value for name, value in named.items() if value is not None]
    if not matches:
        raise ValueError("Say whose leases: an owner's, a run's or a stage run's.")
    with journal.writing(connection) as writing:
        return writing.execute(sa.update(leases).where(*matches).values(**_FREED)).rowcount


def is_mine(journal: Journal, lease: Lease, *, connection: sa.Connection | None = None) -> bool:
    """Whether the lease is still held; with a connection it stays so until the transaction ends."""
    query = _MINE if connection is None else _MINE.with_for_update()
    with journal.reading(connection) as reading:
        return reading.execute(query, _held(lease)).first() is not None


def holder(journal: Journal, resource: str) -> Lease | None:
    """The lease of a resource; None if it is free, expired or held by a dead process."""
    with journal.reading() as connection:
        found = _look(connection, resource)
    return None if found is None or _why_free(*found) is not None else found[0]


def _look(
    connection: sa.Connection, resource: str, *, keep: bool = False
) -> tuple[Lease, bool] | None:
    """The lease's row, and whether it has expired by the database's clock."""
    query = _LOOK_AND_KEEP if keep else _LOOK
    found = query.first(connection, {"resource": resource})
    return None if found is None else (Lease.from_storage(found[:-1]), bool(found[-1]))


def _why_free(lease: Lease, expired: bool) -> str | None:
    """Why a lease may be acquired; empty if it was released, None if it is held."""
    if lease.owner is None:
        return ""
    if expired:
        return "the lease had expired"
    return "its process is gone" if is_gone(lease.owner) else None


def _held(lease: Lease) -> dict[str, Any]:
    return {"resource": lease.resource, "token": lease.token, "owner": lease.owner}


def _lost(journal: Journal, lease: Lease) -> errors.LeaseLost:
    held = holder(journal, lease.resource)
    new = None if held is None else held.owner
    happened = events.LeaseLostEvent(
        actor=lease.owner,
        run_id=lease.run_id,
        stage_run_id=lease.stage_run_id,
        resource=lease.resource,
        token=lease.token,
        owner=lease.owner,
        holder=new,
    )
    journal.record(happened)
    return errors.LeaseLost(resource=lease.resource, token=lease.token, holder=new)
