"""Purge quarantined rows that can never be live again, once the target's retention is over.

A row is kept if it is live, if a restore could make it live, or if it was live within the
retention. A row whose stage run the journal does not know is kept too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from goldsmith.engine import faults
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.quarantine import quarantine_store, quarantine_table
from goldsmith.engine.quarantine.liveness import COLUMNS, Look, ended, restorable
from goldsmith.engine.session.spark_session import own_session
from goldsmith.journal.journal import Journal
from goldsmith.storage.lake_tables import metadata_at, table_at
from goldsmith.storage.storage import Storage


def dead_ids(
    storage: Storage, journal: Journal, dataset: str, look: Look | None, before: datetime
) -> list[str]:
    """The ids of the quarantined rows to purge; the caller holds the target's lease."""
    table = table_at(storage, quarantine_table.name_of(dataset))
    if table is None:
        return []
    rows = table.scan(selected_fields=("_id", "_kept_at", *COLUMNS)).to_arrow().to_pylist()
    old = [row for row in rows if row["_kept_at"] < before]
    if not old:
        return []
    states = restorable(journal, dataset, rows, look, before)
    over = ended(journal, dataset, rows)
    return [
        row["_id"]
        for row in old
        if row["_stage_run_id"] in over and not any(state.is_live(row) for state in states)
    ]


def purge(resources: WorkerResources, dataset: str, look: Look | None, before: datetime) -> int:
    """Purge quarantined rows and expire old snapshots; return the number of purged rows."""
    from pyiceberg.expressions import In

    quarantine_store.complete(resources.storage, resources.journal, dataset)
    going = dead_ids(resources.storage, resources.journal, dataset, look, before)
    if going:
        table = table_at(resources.storage, quarantine_table.name_of(dataset))
        assert table is not None  # the rows were read from it
        one_of: Any = In  # pydantic hides the signature of its constructor
        table.delete(one_of("_id", going))
        faults.reach("rows-purged")
    expire = _old_snapshots(resources.storage, dataset, before)
    if expire:
        with own_session(resources.spark()) as spark:
            kept = quarantine_table.table(spark, dataset)
            spark.catalog.refreshTable(kept.sql_name)  # pyiceberg wrote it, not Spark
            kept.expire(expire)
    return len(going)


def _old_snapshots(storage: Storage, dataset: str, before: datetime) -> list[str]:
    metadata = metadata_at(storage, quarantine_table.name_of(dataset)) or {}
    return [
        str(snapshot["snapshot-id"])
        for snapshot in metadata.get("snapshots", ())
        if snapshot["timestamp-ms"] < before.timestamp() * 1000
        and snapshot["snapshot-id"] != metadata.get("current-snapshot-id")
    ]
