"""The lake's tables without Spark: which states they have been in, through pyiceberg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from goldsmith.planning.lake_tables import metadata_at, table_at
from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.places import Places
from goldsmith.planning.words import lake_name, layer_of


def load_table(dataset: Dataset, places: Places) -> Any | None:
    """A dataset's table as pyiceberg sees it; None where there is none."""
    name = _name(dataset)
    return None if name is None else table_at(places, name)


def _name(dataset: Dataset) -> tuple[str, ...] | None:
    """What a dataset's table is called in the lake's list; None where nobody writes it."""
    if not dataset.writers:
        return None
    _lake, *name = lake_name(dataset.dataset_id, layer_of(dataset.writers[0])).split(".")
    return tuple(name)


#: Snapshots that add rows, or only lay out anew the ones there are.
ADDING = ("append", "replace")
#: The snapshot's summary says which stage run made it: what a restart asks for.
RUN_PROPERTY = "goldsmith-run-id"
#: And that it started over: a full refresh, or an input that was restored.
STARTED_OVER = "goldsmith-started-over"


class Snapshot(NamedTuple):
    """One state of a table, and what made it of the one before."""

    parent: str | None
    operation: str
    at: datetime | None = None
    #: The stage run that published it; None for a compaction, or somebody else's write.
    stage_run_id: str | None = None
    rows: int | None = None
    #: Whoever wrote it replaced everything and did not go on from what was there.
    started_over: bool = False


class Since(StrEnum):
    """What happened to a table since a snapshot of it."""

    #: It was never read.
    NEVER_READ = "never read"
    NOTHING = "nothing"
    #: Files were compacted, and no row is different.
    LAID_OUT = "laid out"
    ADDED = "added"
    CHANGED = "changed"
    #: The snapshot is no part of the table any more: it was restored or rebuilt.
    TAKEN_BACK = "taken back"
    #: Snapshots between have expired, so nobody knows.
    EXPIRED = "expired"


class History(NamedTuple):
    """The newest state of a table and every one before it that has not expired."""

    current: str | None
    snapshots: Mapping[str, Snapshot]

    def line(self) -> Iterator[tuple[str, Snapshot]]:
        """The states of main, newest first."""
        at = self.current
        while at is not None and at in self.snapshots:
            yield at, self.snapshots[at]
            at = self.snapshots[at].parent

    def since(self, snapshot: str | None) -> Since:
        """What happened after a snapshot, up to now."""
        if self.current is None or snapshot == self.current:
            return Since.NOTHING
        if snapshot is None:
            return Since.NEVER_READ
        way = operations_between(self.snapshots, snapshot, self.current)
        if way is None:
            return Since.TAKEN_BACK if snapshot in self.snapshots else Since.EXPIRED
        if set(way) == {"replace"}:
            return Since.LAID_OUT
        for name, one in self.line():
            if name == snapshot:
                break
            if one.started_over:
                return Since.TAKEN_BACK
        return Since.ADDED if all(one in ADDING for one in way) else Since.CHANGED


def operations_between(
    known: Mapping[str, Snapshot], since: str, until: str
) -> tuple[str, ...] | None:
    """What each snapshot after the first did, oldest first; None where no way leads back to it.

    The first one itself may have expired: what came after it is still told by the others.
    """
    way: list[str] = []
    at: str | None = until
    while at != since:
        if at is None or at not in known:
            return None
        way.append(known[at].operation)
        at = known[at].parent
    return tuple(reversed(way))


def history(dataset: Dataset, places: Places) -> History:
    """Every state of a dataset's table that has not expired."""
    name = _name(dataset)
    said = None if name is None else metadata_at(places, name)
    current = None if said is None else current_of(said)
    if said is None or current is None:
        return History(None, {})
    return History(current, {str(one["snapshot-id"]): _snapshot(one) for one in said["snapshots"]})


def current_of(said: Mapping[str, Any]) -> str | None:
    """The newest snapshot, by what a table says of itself."""
    current = said.get("current-snapshot-id")
    # Before it has rows a table says -1, or nothing.
    return None if current in (None, -1) else str(current)


def _snapshot(one: Mapping[str, Any]) -> Snapshot:
    said = one.get("summary", {})
    parent, added = one.get("parent-snapshot-id"), said.get("added-records")
    return Snapshot(
        parent=None if parent is None else str(parent),
        operation=said.get("operation", ""),
        at=datetime.fromtimestamp(one["timestamp-ms"] / 1000, UTC),
        stage_run_id=said.get(RUN_PROPERTY),
        rows=None if added is None else int(added),
        started_over=STARTED_OVER in said,
    )
