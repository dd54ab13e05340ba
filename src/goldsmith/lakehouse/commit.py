"""Write records as data files and commit them once: the load's id is in the snapshot's summary.

The commit only succeeds on the state of the table in which no snapshot has the id; another
writer's commit in between makes it look again.
"""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from goldsmith.errors import GoldsmithError
from goldsmith.lakehouse.raw_tables import DAY_MILLIS
from goldsmith.lakehouse.records import SCHEMA

_LOG = logging.getLogger(__name__)
#: The property of a snapshot's summary that names the load.
LOAD_ID = "goldsmith.load-id"
_LOAD_ROWS = "goldsmith.load-rows"
_MOST_TRIES = 20
Key = tuple[Any, ...]


@dataclass(eq=False, kw_only=True)
class TableBusy(GoldsmithError):
    """Other writers committed to the table each time a load tried to."""

    transient = True
    exit_code = 1

    table: str

    def __str__(self) -> str:
        return f"The table {self.table} changed {_MOST_TRIES} times while a load was committed."

    @property
    def hint(self) -> str:
        return "The service tries the load again by itself."


@dataclass(eq=False, kw_only=True)
class KeyTwice(GoldsmithError):
    """Two records of a load with UPSERT have the same key, or one has none."""

    exit_code = 1

    columns: tuple[str, ...]
    key: tuple[object, ...]

    def __str__(self) -> str:
        shown = ", ".join(f"{n}={v!r}"[:120] for n, v in zip(self.columns, self.key, strict=True))
        return f"More than one record has the key {shown}, or a part of it is empty."

    @property
    def hint(self) -> str:
        return (
            "Load with APPEND, or name columns that tell records apart: "
            "`goldsmith applications register NAME --upsert-key COLUMN`."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CommittedLoad:
    """The snapshot of a load, and the records it added."""

    snapshot_id: str | None = None
    rows: int = 0


@dataclass(kw_only=True)
class StagedRecords:
    """Data files of one load that no snapshot refers to yet."""

    table: Any
    upsert_keys: tuple[str, ...] = ()
    files: list[Any] = field(default_factory=list)
    rows: int = 0
    _keys: set[Key] = field(default_factory=set)

    def add(self, records: pa.Table) -> None:
        """Write one table of records; raises KeyTwice for a second record of a key."""
        for key in _keys_of(records, self.upsert_keys):
            if key in self._keys or None in key:
                raise KeyTwice(columns=self.upsert_keys, key=key)
            self._keys.add(key)
        self.files += _write(self.table, records)
        self.rows += records.num_rows

    def commit(self, load_id: str) -> CommittedLoad:
        """Commit the files in one snapshot, unless it was done before."""
        from pyiceberg.exceptions import CommitFailedException

        for _ in range(_MOST_TRIES):
            table = self.table.refresh()
            if (before := committed_load(table, load_id)) is not None:
                self.discard()
                return before
            # Only in memory: pyiceberg would repeat the commit on a state nobody has looked at.
            table.metadata.properties["commit.retry.num-retries"] = "0"
            transaction = table.transaction()
            summary = {LOAD_ID: load_id, _LOAD_ROWS: str(self.rows)}
            update = transaction.update_snapshot(snapshot_properties=summary)
            replaced = list(self._rewritten(table)) if self.upsert_keys else []
            with update.overwrite() if replaced else update.fast_append() as snapshot:
                for data_file in self.files:
                    snapshot.append_data_file(data_file)
                for old, kept in replaced:
                    snapshot.delete_data_file(old)
                    for data_file in kept:
                        snapshot.append_data_file(data_file)
            try:
                transaction.commit_transaction()
            except CommitFailedException:
                _delete(table, [file for _, kept in replaced for file in kept])
                continue
            committed = committed_load(self.table.refresh(), load_id)
            assert committed is not None  # the commit above has it
            return committed
        self.discard()
        raise TableBusy(table=".".join(self.table.name()))

    def discard(self) -> None:
        """Delete the files: nothing refers to them."""
        _delete(self.table, self.files)
        self.files = []

    def _rewritten(self, table: Any) -> Iterator[tuple[Any, list[Any]]]:
        """Data files that hold a record of the load, each with the files of its other records."""
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        for task in table.scan(row_filter=self._typenames()).plan_files():
            scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
            records = scan.to_table([task]).cast(SCHEMA)
            is_kept = [key not in self._keys for key in _keys_of(records, self.upsert_keys)]
            if not all(is_kept):
                yield task.file, list(_write(table, records.filter(pa.array(is_kept))))

    def _typenames(self) -> Any:
        from pyiceberg.expressions import In

        index = self.upsert_keys.index("typename")
        typenames = {key[index] for key in self._keys}
        return In("typename", typenames)  # type: ignore[call-arg,arg-type]


def committed_load(table: Any, load_id: str) -> CommittedLoad | None:
    """The snapshot in which a load was committed; None if it was not."""
    for snapshot in reversed(table.metadata.snapshots):
        summary = snapshot.summary
        more = {} if summary is None else summary.additional_properties
        if more.get(LOAD_ID) == load_id:
            rows = int(more.get(_LOAD_ROWS, 0))
            return CommittedLoad(snapshot_id=str(snapshot.snapshot_id), rows=rows)
    return None


def _keys_of(records: pa.Table, columns: Sequence[str]) -> Iterable[Key]:
    if not columns:
        return ()
    return zip(*(records.column(name).to_pylist() for name in columns), strict=True)


def _write(table: Any, records: pa.Table) -> Iterator[Any]:
    """Write records as Parquet, a file for each partition."""
    from pyiceberg.io.pyarrow import write_file
    from pyiceberg.partitioning import PartitionFieldValue, PartitionKey
    from pyiceberg.table import WriteTask

    spec, schema = table.spec(), table.schema()
    write_id = uuid.uuid4()
    numbers = itertools.count()
    for typename, day, part in _partitions(records):
        values = {"typename": typename, "extracted_at": day}
        key = PartitionKey(
            field_values=[
                PartitionFieldValue(
                    field=item, value=values[schema.find_field(item.source_id).name]
                )
                for item in spec.fields
            ],
            partition_spec=spec,
            schema=schema,
        )
        task = WriteTask(
            write_uuid=write_id,
            task_id=next(numbers),
            schema=schema,
            record_batches=part.to_batches(),
            partition_key=key,
        )
        yield from write_file(table.io, table.metadata, iter([task]))


def _partitions(records: pa.Table) -> Iterator[tuple[str, int, pa.Table]]:
    """The records by typename and the first millisecond of their day."""
    times = records.column("extracted_at")
    days = pc.multiply(pc.divide(times, DAY_MILLIS), DAY_MILLIS)
    typenames = records.column("typename")
    groups = pa.table({"typename": typenames, "day": days}).group_by(["typename", "day"])
    for group in groups.aggregate([]).sort_by("typename").to_pylist():
        is_in = pc.and_(pc.equal(typenames, group["typename"]), pc.equal(days, group["day"]))
        yield group["typename"], group["day"], records.filter(is_in)


def _delete(table: Any, files: Iterable[Any]) -> None:
    for file in files:
        try:
            table.io.delete(file.file_path)
        except OSError as error:  # an unreferenced file does no harm
            _LOG.warning("%s could not be deleted: %s", file.file_path, error)
