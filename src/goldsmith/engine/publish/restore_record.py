"""Record the restore of a lake table, and settle restores whose process died.

A restore changes the table, the ledgers of the stages that write it, and the audit log. The
intent is recorded first. The next holder of the table's lease checks whether the table was rolled
back, and then completes the restore or drops it.
"""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.engine import ledger
from goldsmith.engine.attempt import WorkerResources
from goldsmith.journal import events, row_storage
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import restores
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Restore
from goldsmith.planning.lake import history
from goldsmith.planning.stage_context import Dataset

_UNFINISHED = Prepared(
    sa.select(restores).where(
        restores.c.dataset_id == sa.bindparam("dataset"), restores.c.ended_at.is_(None)
    )
)


def intend(journal: Journal, meant: Restore) -> Restore:
    """Record the intent of a restore."""
    with journal.writing() as connection:
        return row_storage.insert(connection, meant, started_at=now())


def settle(resources: WorkerResources, dataset: Dataset | None) -> None:
    """Complete or drop the restores of a dead process; the caller holds the lease."""
    if dataset is None:
        return
    left = _UNFINISHED.glance(resources.journal.engine, {"dataset": dataset.dataset_id})
    for restore in map(Restore.from_storage, left):
        if _went_back(resources, dataset, restore):
            finish(resources.journal, restore)
        else:
            _end(resources.journal, restore, done=False)


def _went_back(resources: WorkerResources, dataset: Dataset, restore: Restore) -> bool:
    """Whether the table no longer has the snapshot from which it was to be restored."""
    return restore.from_snapshot not in dict(history(dataset, resources.storage).line())


def finish(journal: Journal, restore: Restore) -> None:
    """Restore the ledgers and record the restore, after the table was rolled back."""
    with journal.writing() as connection:
        ledger.take_back(connection, restore.taken_back)
        restored = events.DatasetRestored(
            actor=restore.asked_by,
            dataset_id=str(restore.dataset_id),
            to_snapshot=str(restore.to_snapshot),
            from_snapshot=restore.from_snapshot,
        )
        journal.record(restored, connection=connection)
        _end(journal, restore, done=True, connection=connection)


def _end(
    journal: Journal, restore: Restore, *, done: bool, connection: sa.Connection | None = None
) -> None:
    key = {"restore_id": restore.restore_id}
    with journal.writing(connection) as writing:
        row_storage.update(writing, Restore, key, ended_at=now(), done=done)
