"""Lake tables on their way back to an earlier state, and what a restart makes of them.

Three things have to go together: the table, the ledgers of the stages that write it, and the
word of it in the audit log. What is meant is written down first. Whoever holds the table's
lease next looks whether the table went back, and finishes the rest, or forgets it.
"""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.engine import ledger
from goldsmith.engine.work import Tools
from goldsmith.journal import events, stored
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import restores
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Restore
from goldsmith.planning.lake import history
from goldsmith.planning.neighbourhood import Dataset

_UNFINISHED = Prepared(
    sa.select(restores).where(
        restores.c.dataset_id == sa.bindparam("dataset"), restores.c.ended_at.is_(None)
    )
)


def intend(journal: Journal, meant: Restore) -> Restore:
    """Write down what is about to happen."""
    with journal.writing() as connection:
        return stored.insert(connection, meant, started_at=now())


def settle(tools: Tools, dataset: Dataset | None) -> None:
    """Finish or forget what a dead process meant to do; we hold the lease."""
    if dataset is None:
        return
    left = _UNFINISHED.glance(tools.journal.engine, {"dataset": dataset.dataset_id})
    for restore in map(Restore.from_storage, left):
        if _went_back(tools, dataset, restore):
            finish(tools.journal, restore)
        else:
            _end(tools.journal, restore, done=False)


def _went_back(tools: Tools, dataset: Dataset, restore: Restore) -> bool:
    """The state it was to leave is no part of the table any more."""
    return restore.from_snapshot not in dict(history(dataset, tools.places).line())


def finish(journal: Journal, restore: Restore) -> None:
    """The table is back: so are the ledgers, and everybody may read it."""
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
    mine = {"restore_id": restore.restore_id}
    with journal.writing(connection) as writing:
        stored.update(writing, Restore, mine, ended_at=now(), done=done)
