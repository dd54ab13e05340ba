"""Leases: who may write a place right now, with a token that only rises.

A lease frees itself by the database's clock; a dead process of this host is seen at once. The
row stays when a lease is released, because the token must never go back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.prepared import Prepared
from goldsmith.journal import errors, events, stored
from goldsmith.journal.clock import later, now
from goldsmith.journal.definitions import leases
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner, is_gone
from goldsmith.journal.tables import Lease

#: How long a silent owner keeps a lease, and how often a living one says that it lives.
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
    """Take a place that is free, expired or left by a dead process; None where it is held.

    An owner that holds it already is refused too: two stages of one process are two writers.
    """
    # Whoever holds a lease in SQLite is of this host, and does not outlive its power either.
    with journal.writing(connection, lasts=False) as writing:
        # Whoever acquires waits for its turn, so between looking and taking nobody else can.
        found = _look(writing, resource, keep=True)
        before = found[0] if found else stored.insert(writing, Lease(resource=resource))
        left = _why_free(before, found is not None and found[1])
        if left is None:
            return None
        taken = stored.update(
            writing,
            Lease,
            {"resource": resource},
            token=before.token + 1,
            owner=str(owner),
            host=owner.host,
            pid=owner.pid,
            run_id=run_id,
            stage_run_id=stage_run_id,
            acquired_at=now(),
            expires_at=later(seconds),
        )
        assert taken is not None  # it was there a moment ago, and we have the turn
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


def heartbeat(journal: Journal, lease: Lease, *, seconds: float = SECONDS) -> Lease:
    """Hold on to a lease; the error LeaseLost where another process took it meanwhile."""
    # No turn is waited for, as recording does: a crowd of writers must not cost a lease.
    with database.writing(journal.engine, lasts=False) as connection:
        kept = renew(connection, lease, seconds=seconds)
    if kept is None:
        raise _lost(journal, lease)
    return kept


def renew(connection: sa.Connection, lease: Lease, *, seconds: float = SECONDS) -> Lease | None:
    """Hold on to a lease within a transaction; None where another process took it meanwhile."""
    return stored.update(connection, Lease, _held(lease), expires_at=later(seconds))


def release(journal: Journal, lease: Lease, *, connection: sa.Connection | None = None) -> bool:
    """Give a place back; False where it was lost already."""
    with journal.writing(connection, lasts=False) as writing:
        return stored.update(writing, Lease, _held(lease), **_FREED) is not None


def free_all(
    journal: Journal,
    *,
    owner: str | None = None,
    run_id: str | None = None,
    stage_run_id: str | None = None,
    connection: sa.Connection | None = None,
) -> int:
    """Free what an owner, a run or a stage run holds; a stop does it where it is recorded."""
    named = {"owner": owner, "run_id": run_id, "stage_run_id": stage_run_id}
    matches = [leases.c[name] == value for name, value in named.items() if value is not None]
    if not matches:
        raise ValueError("Say whose leases: an owner's, a run's or a stage run's.")
    with journal.writing(connection) as writing:
        return writing.execute(sa.update(leases).where(*matches).values(**_FREED)).rowcount


def is_mine(journal: Journal, lease: Lease, *, connection: sa.Connection | None = None) -> bool:
    """Nobody took the lease since; asked inside a transaction, nobody can until it ends."""
    asked = _MINE if connection is None else _MINE.with_for_update()
    with journal.reading(connection) as reading:
        return reading.execute(asked, _held(lease)).first() is not None


def holder(journal: Journal, resource: str) -> Lease | None:
    """Who may write a place right now; None where it is free, expired or left by the dead."""
    with journal.reading() as connection:
        found = _look(connection, resource)
    return None if found is None or _why_free(*found) is not None else found[0]


def _look(
    connection: sa.Connection, resource: str, *, keep: bool = False
) -> tuple[Lease, bool] | None:
    """The lease's row, and whether it has expired by the database's clock."""
    asked = _LOOK_AND_KEEP if keep else _LOOK
    found = asked.first(connection, {"resource": resource})
    return None if found is None else (Lease.from_storage(found[:-1]), bool(found[-1]))


def _why_free(lease: Lease, expired: bool) -> str | None:
    """Why a place may be taken; empty where it was given back, None where it is held."""
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
    happened = events.LeaseLost(
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
