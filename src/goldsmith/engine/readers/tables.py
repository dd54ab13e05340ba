"""Iceberg inputs: what is new of a table since a snapshot, or all of it.

A plain read between two snapshots gives no rows for a MERGE, and no error. So the snapshots in
between are looked at first, by their parents: branches that were published are among them,
whatever `main` was called meanwhile, and snapshots that were taken back are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import uuid4

from goldsmith.engine.lake import LakeTable
from goldsmith.engine.names import literal, name
from goldsmith.planning.lake import ADDING, Snapshot, operations_between
from goldsmith.planning.places import LAKE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_BOOKKEEPING = ("_change_type", "_change_ordinal", "_commit_snapshot_id")


class Kind(StrEnum):
    """Which rows of a table were read."""

    ALL = "all"
    #: Those that were added, where nothing else happened.
    APPENDED = "appended"
    #: Those that were added or are different now.
    CHANGED = "changed"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRead:
    """Rows of a table, which they are and why these."""

    rows: DataFrame
    kind: Kind
    because: str


def read_new(spark: SparkSession, table: LakeTable, since: str | None, until: str) -> TableRead:
    """The rows that came after one snapshot, as they are at another; all without the first."""
    if since is None:
        return _all(spark, table, until, "it was not read before")
    if since == until:
        rows = spark.table(table.sql_name).limit(0)
        return TableRead(rows=rows, kind=Kind.NOTHING, because="it was read up to here")
    known = snapshots(spark, table)
    way = operations_between(known, since, until)
    if way is None:
        return _all(spark, table, until, _why_all(known, since))
    if all(operation in ADDING for operation in way):
        because = f"{len(way)} snapshots since, which only add rows"
        return TableRead(
            rows=_appended(spark, table, since, until), kind=Kind.APPENDED, because=because
        )
    if since not in known:
        # The rows that were replaced are gone with it: nobody can tell them from new ones.
        return _all(spark, table, until, _why_all(known, since))
    if unordered := _unordered(spark, table):
        because = f"rows were changed, and changes of the MAP in '{unordered}' cannot be told"
        return _all(spark, table, until, because)
    changing = sorted(set(way) - set(ADDING))
    because = f"{len(way)} snapshots since, with {' and '.join(changing)} among them"
    return TableRead(rows=_changed(spark, table, since, until), kind=Kind.CHANGED, because=because)


def snapshots(spark: SparkSession, table: LakeTable) -> dict[str, Snapshot]:
    """Every snapshot that has not expired, on whatever branch."""
    listed = name(*table.parts, "snapshots")
    rows = spark.sql(f"SELECT snapshot_id, parent_id, operation FROM {listed}").collect()
    return {
        str(row[0]): Snapshot(None if row[1] is None else str(row[1]), str(row[2])) for row in rows
    }


def _why_all(known: Mapping[str, Snapshot], since: str) -> str:
    if since in known:
        return f"it was restored or rebuilt: snapshot {since} is no part of it any more"
    return f"snapshot {since}, up to which it was read, has expired"


def _all(spark: SparkSession, table: LakeTable, until: str, because: str) -> TableRead:
    rows = spark.read.option("versionAsOf", until).table(table.sql_name)
    return TableRead(rows=rows, kind=Kind.ALL, because=because)


def _appended(spark: SparkSession, table: LakeTable, since: str, until: str) -> DataFrame:
    reader = spark.read.option("start-snapshot-id", since).option("end-snapshot-id", until)
    return reader.table(table.sql_name)


def _changed(spark: SparkSession, table: LakeTable, since: str, until: str) -> DataFrame:
    """Rows that are there now and were not: inserted ones, and updated ones as they are now."""
    # Never dropped: on Spark Connect a view is looked up when the rows are asked for.
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
    """A column whose values have no order, without which Iceberg finds no changes."""
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
