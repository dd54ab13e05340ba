"""Read the rows of an Iceberg table that are new since a snapshot, or all rows.

An incremental read between two snapshots returns no rows for a MERGE, and no error. So the
snapshots in between are checked first, from child to parent: this finds published branches and
leaves out snapshots that were rolled back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import uuid4

from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.names import literal, name
from goldsmith.planning.lake import ADDING, TableSnapshot, operations_between
from goldsmith.storage.storage import LAKE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_BOOKKEEPING = ("_change_type", "_change_ordinal", "_commit_snapshot_id")


class ReadKind(StrEnum):
    """Which rows of a table were read."""

    ALL = "all"
    #: Added rows; the table had no other changes.
    APPENDED = "appended"
    #: Added and changed rows.
    CHANGED = "changed"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRead:
    """Rows of a table, which rows these are, and why."""

    rows: DataFrame
    kind: ReadKind
    because: str


def read_new(spark: SparkSession, table: LakeTable, since: str | None, until: str) -> TableRead:
    """The rows added or changed after `since`, as of `until`; all rows if `since` is None."""
    if since is None:
        return _all(spark, table, until, "it was not read before")
    if since == until:
        rows = spark.table(table.sql_name).limit(0)
        return TableRead(rows=rows, kind=ReadKind.NOTHING, because="it was read up to here")
    known = snapshots(spark, table)
    way = operations_between(known, since, until)
    if way is None:
        return _all(spark, table, until, _why_all(known, since))
    if all(operation in ADDING for operation in way):
        because = f"{len(way)} snapshots since, which only add rows"
        return TableRead(
            rows=_appended(spark, table, since, until), kind=ReadKind.APPENDED, because=because
        )
    if since not in known:
        # Without the old snapshot, replaced rows cannot be told from new ones.
        return _all(spark, table, until, _why_all(known, since))
    if unordered := _unordered(spark, table):
        because = f"rows were changed, and changes of the MAP in '{unordered}' cannot be found"
        return _all(spark, table, until, because)
    changing = sorted(set(way) - set(ADDING))
    because = f"{len(way)} snapshots since, with {' and '.join(changing)} among them"
    return TableRead(
        rows=_changed(spark, table, since, until), kind=ReadKind.CHANGED, because=because
    )


def snapshots(spark: SparkSession, table: LakeTable) -> dict[str, TableSnapshot]:
    """Every snapshot that has not expired, on any branch."""
    listed = name(*table.parts, "snapshots")
    rows = spark.sql(f"SELECT snapshot_id, parent_id, operation FROM {listed}").collect()
    return {
        str(row[0]): TableSnapshot(None if row[1] is None else str(row[1]), str(row[2]))
        for row in rows
    }


def _why_all(known: Mapping[str, TableSnapshot], since: str) -> str:
    if since in known:
        return f"it was restored or rebuilt: snapshot {since} is no part of it any more"
    return f"snapshot {since}, up to which it was read, has expired"


def _all(spark: SparkSession, table: LakeTable, until: str, because: str) -> TableRead:
    rows = spark.read.option("versionAsOf", until).table(table.sql_name)
    return TableRead(rows=rows, kind=ReadKind.ALL, because=because)


def _appended(spark: SparkSession, table: LakeTable, since: str, until: str) -> DataFrame:
    reader = spark.read.option("start-snapshot-id", since).option("end-snapshot-id", until)
    return reader.table(table.sql_name)


def _changed(spark: SparkSession, table: LakeTable, since: str, until: str) -> DataFrame:
    """Rows inserted or updated since a snapshot, with their current values."""
    # The view is never dropped: Spark Connect resolves it only when the rows are read.
    view = f"goldsmith_changes_{uuid4().hex}"
    spark.sql(
        f"CALL {name(LAKE)}.system.create_changelog_view("
        f"table => {literal(name(*table.parts[1:]))}, changelog_view => {literal(view)},"
        f" options => map('start-snapshot-id', {literal(since)},"
        f" 'end-snapshot-id', {literal(until)}), net_changes => true)"
    )
    changes = spark.table(view).where("_change_type IN ('INSERT', 'UPDATE_AFTER')")
    return changes.drop(*_BOOKKEEPING)


def _unordered(spark: SparkSession, table: LakeTable) -> str | None:
    """A column with a MAP, which has no order; Iceberg needs one to find changes."""
    fields = spark.table(table.sql_name).schema.fields
    return next((field.name for field in fields if _has_map(field.dataType)), None)


def _has_map(type_: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType

    match type_:
        case MapType():
            return True
        case ArrayType():
            return _has_map(type_.elementType)
        case StructType():
            return any(_has_map(field.dataType) for field in type_.fields)
    return False
