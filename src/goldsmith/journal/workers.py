"""The services and workers of a catalog: their heartbeats, and which of them are alive."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.clock import later, now, read_clock
from goldsmith.journal.definitions import requests, workers
from goldsmith.journal.journal import Journal
from goldsmith.journal.leases import SECONDS
from goldsmith.journal.owners import is_gone
from goldsmith.journal.tables import RequestStatus
from goldsmith.journal.tables_of_service import WorkerKind, WorkerRow, WorkerStatus

#: How far a worker's clock may differ from the database's clock.
CLOCK_TOLERANCE_SECONDS = 60.0


@dataclass(eq=False, kw_only=True)
class ClockDiffers(GoldsmithError):
    """The clock of this machine and the clock of the catalog's database differ by minutes."""

    exit_code = 1

    seconds: float

    def __str__(self) -> str:
        side = "ahead of" if self.seconds > 0 else "behind"
        return (
            f"The clock of this machine is {abs(self.seconds):.0f} s {side} the clock of the "
            "catalog's database, so schedules and windows would be wrong."
        )

    @property
    def hint(self) -> str:
        return f"Synchronise the clocks (NTP): {CLOCK_TOLERANCE_SECONDS:.0f} s are tolerated."


def refuse_wrong_clock(journal: Journal, at: datetime | None = None) -> float:
    """The seconds this machine's clock is ahead; raises ClockDiffers if it is minutes off."""
    with journal.reading() as connection:
        theirs = read_clock(connection)
    ahead = ((at or datetime.now(UTC)) - theirs).total_seconds()
    if abs(ahead) > CLOCK_TOLERANCE_SECONDS:
        raise ClockDiffers(seconds=ahead)
    return ahead


def register(journal: Journal, row: WorkerRow) -> WorkerRow:
    """Add a worker or a service; a row of the same process is replaced."""
    with database.writing(journal.engine, lasts=False) as connection:
        connection.execute(sa.delete(workers).where(workers.c.worker == row.worker))
        return row_storage.insert(
            connection, row, started_at=now(), heartbeat_at=now(), expires_at=later(SECONDS)
        )


def beat(journal: Journal, worker: str, status: WorkerStatus | None = None) -> bool:
    """Extend the life of a worker's row; False if there is no such row."""
    values: dict[str, Any] = {"heartbeat_at": now(), "expires_at": later(SECONDS)}
    if status is not None:
        values["status"] = status.value
    with database.writing(journal.engine, lasts=False) as connection:
        return row_storage.update(connection, WorkerRow, {"worker": worker}, **values) is not None


def renew_requests(journal: Journal, worker: str) -> set[str]:
    """Extend the leases of all requests that a worker runs; returns their ids."""
    query = (
        sa.update(requests)
        .where(requests.c.worker == worker, requests.c.status == RequestStatus.RUNNING.value)
        .values(expires_at=later(SECONDS))
        .returning(requests.c.request_id)
    )
    # Like `leases.heartbeat` this waits for no lock of the journal.
    with database.writing(journal.engine, lasts=False) as connection:
        return {str(name) for name in connection.execute(query).scalars()}


def end(journal: Journal, worker: str) -> None:
    """Record that a worker ended."""
    with database.writing(journal.engine, lasts=False) as connection:
        row_storage.update(
            connection,
            WorkerRow,
            {"worker": worker},
            status=WorkerStatus.ENDED.value,
            heartbeat_at=now(),
            expires_at=now(),
        )


def forget_ended(journal: Journal, keep_seconds: float = 86_400.0) -> None:
    """Delete rows of workers that ended or died a day ago."""
    with database.writing(journal.engine, lasts=False) as connection:
        connection.execute(sa.delete(workers).where(workers.c.expires_at < later(-keep_seconds)))


def listed(journal: Journal) -> list[tuple[WorkerRow, bool]]:
    """Every worker with whether it is alive, the newest first."""
    query = sa.select(workers, (workers.c.expires_at > now()).label("alive")).order_by(
        workers.c.started_at.desc()
    )
    with journal.reading() as connection:
        found = connection.execute(query).all()
    return [
        (row, bool(alive) and row.status != WorkerStatus.ENDED.value and not is_gone(row.worker))
        for row, alive in ((WorkerRow.from_storage(f[:-1]), f[-1]) for f in found)
    ]


def with_their_requests(journal: Journal, *, everything: bool = False) -> list[dict[str, Any]]:
    """The services and workers with what they run now; `everything`: those that ended too."""
    query = (
        sa.select(requests.c.worker, requests.c.request_id)
        .where(requests.c.status == RequestStatus.RUNNING.value)
        .order_by(requests.c.asked_at, requests.c.request_id)
    )
    running: dict[str, list[str]] = {}
    with journal.reading() as connection:
        for worker, request_id in connection.execute(query):
            running.setdefault(worker, []).append(request_id)
    return [
        {**row.as_plain(), "alive": lives, "running": running.get(row.worker, [])}
        for row, lives in listed(journal)
        if lives or everything
    ]


def alive(
    journal: Journal,
    kind: WorkerKind = WorkerKind.WORKER,
    *,
    statuses: Collection[WorkerStatus] = (WorkerStatus.ACTIVE,),
) -> list[WorkerRow]:
    """The living workers, or services, that have one of these statuses."""
    return [
        row
        for row, lives in listed(journal)
        if lives and row.kind == kind.value and row.status in {status.value for status in statuses}
    ]
