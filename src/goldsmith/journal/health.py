"""Read and store the health of datasets."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.journal import row_storage
from goldsmith.journal.definitions import dataset_health
from goldsmith.journal.journal import Journal
from goldsmith.journal.lineage_tables import DatasetHealth


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


def store(journal: Journal, health: DatasetHealth) -> None:
    """Store the health of a dataset."""
    values = {
        column.name: getattr(health, column.name)
        for column in health.table.columns
        if not column.is_key
    }
    with journal.writing() as connection:
        where = {"dataset_id": health.dataset_id}
        if row_storage.update(connection, DatasetHealth, where, **values) is None:
            row_storage.insert(connection, health)
