"""Read and store the health of datasets."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import cut_sources, dataset_health
from goldsmith.journal.journal import Journal
from goldsmith.journal.lineage_events import DatasetHealthChanged, SourceCutOff, SourceLetBack
from goldsmith.journal.lineage_tables import CutSource, DatasetHealth, HealthStatus


def health_of(journal: Journal, dataset_id: str) -> DatasetHealth | None:
    """The health of a dataset; None if it was never probed."""
    query = sa.select(dataset_health).where(dataset_health.c.dataset_id == dataset_id)
    with journal.reading() as connection:
        found = row_storage.select(connection, DatasetHealth, query)
    return found[0] if found else None


def all_health(journal: Journal) -> list[DatasetHealth]:
    """The health of every probed dataset."""
    query = sa.select(dataset_health).order_by(dataset_health.c.dataset_id)
    with journal.reading() as connection:
        return row_storage.select(connection, DatasetHealth, query)


def store(journal: Journal, health: DatasetHealth, before: DatasetHealth | None) -> None:
    """Store the health of a dataset, and record a change of its status."""
    with journal.writing() as connection:
        _store(journal, health, before, connection)


def mark_down(
    journal: Journal, dataset_id: str, because: str, *, connection: sa.Connection
) -> None:
    """Store that a dataset is down, as a failed stage found it."""
    now = read_clock(connection)
    query = sa.select(dataset_health).where(dataset_health.c.dataset_id == dataset_id)
    rows = row_storage.select(connection, DatasetHealth, query)
    known = rows[0] if rows else DatasetHealth(dataset_id=dataset_id)
    down = known.with_(
        status=HealthStatus.DOWN,
        since=known.since if known.status == HealthStatus.DOWN else now,
        checked_at=now,
        failures=known.failures + 1,
        well_since=None,
        because=because,
    )
    _store(journal, down, known, connection)


def _store(
    journal: Journal,
    health: DatasetHealth,
    before: DatasetHealth | None,
    connection: sa.Connection,
) -> None:
    values = {
        column.name: getattr(health, column.name)
        for column in health.table.columns
        if not column.is_key
    }
    where = {"dataset_id": health.dataset_id}
    if row_storage.update(connection, DatasetHealth, where, **values) is None:
        row_storage.insert(connection, health)
    status = HealthStatus.HEALTHY if before is None else before.status
    if health.status != status:
        changed = DatasetHealthChanged(
            dataset_id=health.dataset_id, health=str(health.status), because=health.because
        )
        journal.record(changed, connection=connection)


def cut_off(journal: Journal, environment: str, now: datetime) -> dict[str, str]:
    """The datasets that drills cut off in an environment at this moment, and why."""
    query = sa.select(cut_sources).where(cut_sources.c.environment == environment)
    with journal.reading() as connection:
        found = row_storage.select(connection, CutSource, query)
    return {
        cut.dataset_id: f"cut off by {cut.drill_id} until {cut.ends_at:%H:%M:%S}"
        for cut in found
        if cut.ends_at is not None and now < cut.ends_at
    }


def cut(
    journal: Journal, dataset_id: str, environment: str, drill_id: str, actor: str, lasts: timedelta
) -> CutSource:
    """Cut a dataset off for a while; runs of the environment do not read it."""
    with journal.writing() as connection:
        now = read_clock(connection)
        row = CutSource(
            dataset_id=dataset_id,
            environment=environment,
            drill_id=drill_id,
            cut_at=now,
            ends_at=now + lasts,
            actor=actor,
        )
        _delete_cut(connection, dataset_id, environment)
        row_storage.insert(connection, row)
        event = SourceCutOff(
            dataset_id=dataset_id,
            drill_id=drill_id,
            environment=environment,
            seconds=lasts.total_seconds(),
            actor=actor,
        )
        journal.record(event, connection=connection)
    return row


def let_back(
    journal: Journal, dataset_id: str, environment: str, drill_id: str, actor: str
) -> None:
    """Let runs read a dataset again."""
    with journal.writing() as connection:
        _delete_cut(connection, dataset_id, environment)
        event = SourceLetBack(
            dataset_id=dataset_id, drill_id=drill_id, environment=environment, actor=actor
        )
        journal.record(event, connection=connection)


def _delete_cut(connection: sa.Connection, dataset_id: str, environment: str) -> None:
    connection.execute(
        sa.delete(cut_sources).where(
            cut_sources.c.dataset_id == dataset_id, cut_sources.c.environment == environment
        )
    )
