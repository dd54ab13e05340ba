"""Pushes: at most one an hour for each resource and flow, and which of their batches arrived."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now, read_clock
from goldsmith.journal.definitions import push_batches, pushes
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal
from goldsmith.journal.push_tables import Push, PushBatch

#: Receivers add values up by the hour: a second push within it confuses their detectors.
EVERY = timedelta(hours=1)


@dataclass(eq=False, kw_only=True)
class PushedWithinTheHour(GoldsmithError):
    """The resource was pushed for less than an hour ago."""

    resource_uuid: str
    flow: str
    next_at: datetime
    exit_code = 1

    def __str__(self) -> str:
        return (
            f"The {self.flow} of {self.resource_uuid} were pushed less than an hour ago; "
            f"the next push may start at {self.next_at:%H:%M} UTC."
        )

    @property
    def hint(self) -> str:
        return "Wait, or give a reason: `--override-reason TEXT`."


def begin(
    journal: Journal,
    *,
    resource_uuid: str,
    flow: str,
    receiver: str,
    manifest_hash: str,
    requested_by: str,
    override_reason: str | None = None,
) -> Push:
    """Store a new push, or return the unfinished push of the same items, which is resumed."""
    same = (
        pushes.c.resource_uuid == resource_uuid,
        pushes.c.flow == flow,
        pushes.c.receiver == receiver,
    )
    query = sa.select(pushes).where(*same).order_by(pushes.c.started_at.desc()).limit(1)
    with journal.writing() as connection:
        last = next(iter(row_storage.select(connection, Push, query)), None)
        if last is not None and last.ended_at is None and last.manifest_hash == manifest_hash:
            return last
        # A push of which nothing arrived does not count.
        if last is not None and not override_reason and _arrived(connection, last):
            assert last.started_at is not None
            next_at = last.started_at + EVERY
            if read_clock(connection) < next_at:
                raise PushedWithinTheHour(resource_uuid=resource_uuid, flow=flow, next_at=next_at)
        row = Push(
            push_id=new_id("push"),
            resource_uuid=resource_uuid,
            flow=flow,
            receiver=receiver,
            manifest_hash=manifest_hash,
            requested_by=requested_by,
            override_reason=override_reason,
        )
        return row_storage.insert(connection, row, started_at=now())


def last_arrived(journal: Journal, resource_uuid: str, flow: str, receiver: str) -> Push | None:
    """The newest push of a flow of which something arrived."""
    query = (
        sa.select(pushes)
        .where(
            pushes.c.resource_uuid == resource_uuid,
            pushes.c.flow == flow,
            pushes.c.receiver == receiver,
        )
        .order_by(pushes.c.started_at.desc())
        .limit(20)
    )
    with journal.reading() as connection:
        found = row_storage.select(connection, Push, query)
        return next((push for push in found if _arrived(connection, push)), None)


def _arrived(connection: sa.Connection, push: Push) -> bool:
    batch = sa.select(push_batches.c.push_id).where(push_batches.c.push_id == push.push_id)
    return push.ended_at is not None or connection.execute(batch.limit(1)).first() is not None


def accepted(journal: Journal, push_id: str) -> dict[str, str | None]:
    """The batches of a push that arrived: invocation ids by the hash of the body."""
    query = sa.select(push_batches.c.body_hash, push_batches.c.invocation_id).where(
        push_batches.c.push_id == push_id
    )
    with journal.reading() as connection:
        return {row.body_hash: row.invocation_id for row in connection.execute(query)}


def record_batch(
    journal: Journal, push_id: str, *, body_hash: str, invocation_id: str | None, items: int
) -> None:
    """Record that a batch arrived; recording it again changes nothing."""
    query = sa.select(push_batches.c.push_id).where(
        push_batches.c.push_id == push_id, push_batches.c.body_hash == body_hash
    )
    row = PushBatch(
        push_id=push_id, body_hash=body_hash, invocation_id=invocation_id, item_count=items
    )
    with journal.writing() as connection:
        if connection.execute(query).first() is None:
            row_storage.insert(connection, row, accepted_at=now())


def finish(journal: Journal, push_id: str, *, items: int) -> Push:
    """Record that all batches of a push arrived."""
    with journal.writing() as connection:
        done = row_storage.update(
            connection, Push, {"push_id": push_id}, ended_at=now(), item_count=items
        )
    assert done is not None
    return done


def listed(journal: Journal, *, most: int = 50) -> list[Push]:
    """The pushes, newest first."""
    query = sa.select(pushes).order_by(pushes.c.started_at.desc()).limit(most)
    with journal.reading() as connection:
        return row_storage.select(connection, Push, query)
