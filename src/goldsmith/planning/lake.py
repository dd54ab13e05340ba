"""The lake's tables without Spark: which states they have been in, through pyiceberg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import sqlalchemy as sa

from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.places import Places
from goldsmith.planning.words import lake_name, layer_of

_ROW_OF_TABLE = sa.text(
    "SELECT * FROM iceberg_tables WHERE catalog_name = :catalog"
    " AND table_namespace = :namespace AND table_name = :table"
)


def load_table(dataset: Dataset, places: Places) -> Any | None:
    """A dataset's table as pyiceberg sees it; None where there is none."""
    if not dataset.writers:
        return None
    _lake, *name = lake_name(dataset.dataset_id, layer_of(dataset.writers[0])).split(".")
    return table_at(places, tuple(name))


def table_at(places: Places, name: tuple[str, ...]) -> Any | None:
    """A table of the lake as pyiceberg sees it; None where there is none."""
    catalog = places.lake()
    if catalog is None:
        return None
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from sqlalchemy.exc import OperationalError, ProgrammingError

    try:
        return _load(catalog, name)
    except (NoSuchTableError, NoSuchNamespaceError):
        return None
    except (OperationalError, ProgrammingError) as error:
        # Spark makes the list's own tables with the first table of the lake.
        if "iceberg_tables" in str(error.orig):
            return None
        raise


def _load(catalog: Any, name: tuple[str, ...]) -> Any | None:
    """Load a table as its list of tables has it now.

    Of a list in a database the one row is asked for here: pyiceberg does it through an ORM, which
    takes four times as long as to read the table's metadata, and stages ask again and again.
    """
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.io import load_file_io
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import Table

    if not isinstance(catalog, SqlCatalog):
        return catalog.load_table(name)
    *namespace, table = name
    asked = {"catalog": catalog.name, "namespace": ".".join(namespace), "table": table}
    with catalog.engine.connect() as connection:
        found = connection.execute(_ROW_OF_TABLE, asked).mappings().first()
    # The first form of such a list has no word for what a row is, because all were tables.
    if found is None or found.get("iceberg_type") not in (None, "TABLE"):
        return None
    at = found["metadata_location"]
    io = load_file_io(catalog.properties, at)
    metadata = FromInputFile.table_metadata(io.new_input(at))
    io = load_file_io({**catalog.properties, **metadata.properties}, at)
    return Table(name, metadata, at, io, catalog)


def current_snapshot(dataset: Dataset, places: Places) -> str | None:
    """The newest snapshot of a dataset's table; None where there is no table or no row."""
    table = load_table(dataset, places)
    snapshot = None if table is None else table.current_snapshot()
    return None if snapshot is None else str(snapshot.snapshot_id)


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
    table = load_table(dataset, places)
    current = None if table is None else table.current_snapshot()
    if table is None or current is None:
        return History(None, {})
    return History(
        str(current.snapshot_id),
        {str(one.snapshot_id): _snapshot(one) for one in table.snapshots()},
    )


def _snapshot(one: Any) -> Snapshot:
    said = one.summary
    more = {} if said is None else dict(said.additional_properties)
    parent = one.parent_snapshot_id
    return Snapshot(
        parent=None if parent is None else str(parent),
        operation="" if said is None else str(said.operation.value),
        at=datetime.fromtimestamp(one.timestamp_ms / 1000, UTC),
        stage_run_id=more.get(RUN_PROPERTY),
        rows=_number(said, "added-records"),
        started_over=STARTED_OVER in more,
    )


def _number(summary: Any, name: str) -> int | None:
    said = None if summary is None else summary[name]
    return None if said is None else int(said)
