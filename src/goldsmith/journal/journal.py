"""The journal: record events in the audit log and read them back."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.prepared import Prepared
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import audit_log
from goldsmith.journal.event_base import Event
from goldsmith.journal.tables import AuditEvent

#: An arbitrary number that no other advisory lock uses.
_LOCK = 7_061_974
_RECORD = Prepared(sa.insert(audit_log))
_RECORD_NOW = Prepared(sa.insert(audit_log).values(at=now()))


class Journal:
    """The journal, in the same database as the catalog."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    @contextmanager
    def reading(self, connection: sa.Connection | None = None) -> Iterator[sa.Connection]:
        """A transaction with a consistent view, or the caller's own connection."""
        if connection is not None:
            yield connection
            return
        with database.reading(self.engine) as own:
            yield own

    @contextmanager
    def writing(
        self, connection: sa.Connection | None = None, *, lasts: bool = True
    ) -> Iterator[sa.Connection]:
        """One short transaction, or the caller's own; one writer at a time.

        Pass `lasts=False` for events that nobody acts on after a power cut: the commit is not
        synced by itself. Event ids rise in commit order, so that a reader that continues after
        the last id it saw misses none. A transaction that also changes declared rows changes
        those first.
        """
        if connection is not None:
            _wait_for_turn(connection)
            yield connection
            return
        with database.writing(self.engine, lasts=lasts) as own:
            _wait_for_turn(own)
            yield own

    def record(
        self,
        *events: Event,
        at: datetime | None = None,
        connection: sa.Connection | None = None,
    ) -> None:
        """Store events in one transaction, in the order given."""
        with self.writing(connection) as writing:
            rows = [event.as_row() for event in events]
            for row in rows if at is not None else ():
                row.setdefault("at", at)
            for names, alike in groupby(rows, key=tuple):
                (_RECORD if "at" in names else _RECORD_NOW).run_all(writing, list(alike))

    def read(
        self,
        *,
        since_event_id: int = 0,
        before_event_id: int | None = None,
        pipelines: Collection[str] | None = None,
        run_id: str | None = None,
        pipeline_id: str | None = None,
        request_id: str | None = None,
        kinds: Collection[str] = (),
        most: int | None = None,
        newest_first: bool = False,
    ) -> list[AuditEvent]:
        """Events between two ids (both excluded), oldest first unless `newest_first`."""
        event_id = audit_log.c.event_id
        query = sa.select(audit_log).where(event_id > since_event_id)
        for column, wanted in (
            (audit_log.c.run_id, run_id),
            (audit_log.c.pipeline_id, pipeline_id),
            (audit_log.c.request_id, request_id),
        ):
            if wanted is not None:
                query = query.where(column == wanted)
        if before_event_id is not None:
            query = query.where(event_id < before_event_id)
        if pipelines is not None:
            query = query.where(audit_log.c.pipeline_id.in_(sorted(pipelines)))
        if kinds:
            query = query.where(audit_log.c.kind.in_(sorted(kinds)))
        query = query.order_by(event_id.desc() if newest_first else event_id).limit(most)
        with self.reading() as connection:
            return [AuditEvent.from_storage(row) for row in connection.execute(query)]

    def newest(self) -> int:
        """The id of the newest event, 0 if there is none: a cheap way to see new events."""
        with self.reading() as connection:
            found = connection.execute(sa.select(sa.func.max(audit_log.c.event_id))).scalar()
        return int(found or 0)


def _wait_for_turn(connection: sa.Connection) -> None:
    # SQLite has one writer anyway. PostgreSQL assigns ids before the commit: without this lock a
    # reader could see event 8 before event 7, and two writers could wait for each other's rows.
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
