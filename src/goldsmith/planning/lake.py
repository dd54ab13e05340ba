"""Read the snapshot history of lake tables without Spark, through pyiceberg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from goldsmith.planning.resolved_stage import lake_name, layer_of
from goldsmith.planning.stage_context import Dataset
from goldsmith.storage.lake_tables import metadata_at, table_at
from goldsmith.storage.storage import Storage


def load_table(dataset: Dataset, storage: Storage) -> Any | None:
    """A dataset's pyiceberg table; None where there is none."""
    name = name_of(dataset)
    return None if name is None else table_at(storage, name)


def name_of(dataset: Dataset) -> tuple[str, ...] | None:
    """The name of a dataset's table in the lake catalog; None where no stage writes it."""
    if not dataset.writers:
        return None
    _lake, *name = lake_name(dataset.dataset_id, layer_of(dataset.writers[0])).split(".")
    return tuple(name)


#: Snapshot operations that add rows, or only rewrite files without changing rows.
ADDING = ("append", "replace")
#: The property in a snapshot's summary with the stage run that made it; a restart looks for it.
RUN_PROPERTY = "goldsmith-run-id"
#: The property of a snapshot that started over: after a full refresh or a restored input.
STARTED_OVER = "goldsmith-started-over"
#: The snapshot property with the datasets of the route that its rows took, if not the default.
ROUTE_PROPERTY = "goldsmith-route"


class TableSnapshot(NamedTuple):
    """One snapshot of a table, with the operation that made it."""

    parent: str | None
    operation: str
    at: datetime | None = None
    #: The stage run that published it; None for a compaction or another writer's snapshot.
    stage_run_id: str | None = None
    rows: int | None = None
    #: The write replaced all rows instead of continuing from the parent.
    started_over: bool = False


class TableChange(StrEnum):
    """What happened to a table since a snapshot of it."""

    #: The stage never read the table.
    NEVER_READ = "never read"
    NOTHING = "nothing"
    #: Files were compacted; no row changed.
    LAID_OUT = "laid out"
    ADDED = "added"
    CHANGED = "changed"
    #: The snapshot is no ancestor of the newest one: the table was restored or rebuilt.
    TAKEN_BACK = "taken back"
    #: Snapshots in between have expired: not known.
    EXPIRED = "expired"


class TableHistory(NamedTuple):
    """The newest snapshot of a table, and every snapshot that has not expired."""

    current: str | None
    snapshots: Mapping[str, TableSnapshot]

    def line(self) -> Iterator[tuple[str, TableSnapshot]]:
        """The snapshots of the main branch, newest first."""
        at = self.current
        while at is not None and at in self.snapshots:
            yield at, self.snapshots[at]
            at = self.snapshots[at].parent

    def since(self, snapshot: str | None) -> TableChange:
        """What happened after a snapshot, up to now."""
        if self.current is None or snapshot == self.current:
            return TableChange.NOTHING
        if snapshot is None:
            return TableChange.NEVER_READ
        operations = operations_between(self.snapshots, snapshot, self.current)
        if operations is None:
            return TableChange.TAKEN_BACK if snapshot in self.snapshots else TableChange.EXPIRED
        if set(operations) == {"replace"}:
            return TableChange.LAID_OUT
        for name, step in self.line():
            if name == snapshot:
                break
            if step.started_over:
                return TableChange.TAKEN_BACK
        return (
            TableChange.ADDED if all(step in ADDING for step in operations) else TableChange.CHANGED
        )


def operations_between(
    known: Mapping[str, TableSnapshot], since: str, until: str
) -> tuple[str, ...] | None:
    """The operations of the snapshots after `since` up to `until`, oldest first.

    None where `since` is no known ancestor of `until`. `since` itself may have expired.
    """
    way: list[str] = []
    at: str | None = until
    while at != since:
        if at is None or at not in known:
            return None
        way.append(known[at].operation)
        at = known[at].parent
    return tuple(reversed(way))


def history(dataset: Dataset, storage: Storage) -> TableHistory:
    """The snapshot history of a dataset's table."""
    name = name_of(dataset)
    metadata = None if name is None else metadata_at(storage, name)
    current = None if metadata is None else current_of(metadata)
    if metadata is None or current is None:
        return TableHistory(None, {})
    return TableHistory(
        current,
        {str(snapshot["snapshot-id"]): _snapshot(snapshot) for snapshot in metadata["snapshots"]},
    )


def current_of(metadata: Mapping[str, Any]) -> str | None:
    """The id of the newest snapshot in a table's metadata; None where it has no rows yet."""
    current = metadata.get("current-snapshot-id")
    # A table without rows has -1 or no value here.
    return None if current in (None, -1) else str(current)


def _snapshot(snapshot: Mapping[str, Any]) -> TableSnapshot:
    summary = snapshot.get("summary", {})
    parent, added = snapshot.get("parent-snapshot-id"), summary.get("added-records")
    return TableSnapshot(
        parent=None if parent is None else str(parent),
        operation=summary.get("operation", ""),
        at=datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC),
        stage_run_id=summary.get(RUN_PROPERTY),
        rows=None if added is None else int(added),
        started_over=STARTED_OVER in summary,
    )
