"""Keep every version of each key with its validity period, also for late and repeated changes.

For each key in the incoming rows all versions are recomputed from the existing and the incoming
rows, in the order of the watermark. A change with the same values as the one before it is no new
version. It is stored with an empty validity period, because a change that arrives late may fall
between the two and make it a version (docs/decisions/0007-scd2-repeats.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from goldsmith.catalog.write_modes import OtherWriters, Replaces, WriteMode
from goldsmith.checks.free_names import free_name
from goldsmith.engine.names import name, names
from goldsmith.engine.shape.comparable_columns import comparable_columns
from goldsmith.engine.shape.latest_per_key import latest_per_key
from goldsmith.engine.shape.watermarks import time_of
from goldsmith.engine.warehouses import statements
from goldsmith.engine.warehouses.landing import (
    KeyMissing,
    Landing,
    WarehouseColumn,
    WarehouseTable,
)
from goldsmith.planning.resolved_stage import BRONZE_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from goldsmith.engine.warehouses.warehouse import Load
    from goldsmith.engine.warehouses.warehouse_write import WarehouseWrite
    from goldsmith.engine.write.lake_write import LakeWrite

#: The validity columns: a version is valid from <= time < to.
FROM, TO, CURRENT = _COLUMNS = ("_valid_from", "_valid_to", "_is_current")
_VIEW = "goldsmith_versions"
_INGESTED_AT = BRONZE_COLUMNS[1]
#: Helper columns of the SQL for warehouses, named so that no stage has them.
_CAME, _NUMBER, _REPEATS = "_goldsmith_came", "_goldsmith_number", "_goldsmith_repeats"


def with_validity(rows: DataFrame, watermark: str | None, at: datetime) -> DataFrame:
    """Add the validity columns to the rows.

    Without a watermark a version starts at `_ingested_at` where rows have it, else at `at`.
    """
    from pyspark.sql import functions as F

    if watermark is None and _INGESTED_AT in (column.lower() for column in rows.columns):
        watermark = _INGESTED_AT
    return rows.withColumns(
        {
            FROM: F.lit(at).cast("timestamp") if watermark is None else time_of(rows, watermark),
            TO: F.lit(None).cast("timestamp"),
            CURRENT: F.lit(True),
        }
    )


def _deduplicate(rows: DataFrame, keys: Sequence[str], watermark: str | None) -> DataFrame:
    del watermark  # rows with another start are other versions
    return latest_per_key(rows, keys=(*keys, FROM))


def _write_to_lake(write: LakeWrite) -> None:
    incoming = write.rows
    gone = free_name("gone", incoming.columns)
    if write.from_scratch:
        write.delete_all()
    if write.is_empty:
        write.append(_versions(incoming, write, gone).where(f"NOT {gone}").drop(gone))
        return
    # Checkpointed: Spark cannot plan a MERGE whose source has window functions over its target.
    _versions(incoming, write, gone).localCheckpoint(eager=True).createOrReplaceTempView(_VIEW)
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in (*write.keys, FROM))
    columns = [name(column) for column in incoming.columns]
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    write.merge(
        f"MERGE INTO {write.sql_name} t USING {_VIEW} s ON {same}"
        f" WHEN MATCHED AND s.{gone} THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {updates}"
        f" WHEN NOT MATCHED AND NOT s.{gone} THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})"
    )


def _versions(incoming: DataFrame, write: LakeWrite, gone: str) -> DataFrame:
    """All versions of the incoming keys; the column `gone` marks versions to delete."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_key = [F.col(name(key)) for key in write.keys]
    single = incoming
    if not write.is_empty:
        existing = _existing(incoming, write)
        new, number = (free_name(column, existing.columns) for column in ("came", "number"))
        both = existing.withColumn(new, F.lit(0)).unionByName(
            incoming.withColumn(new, F.lit(1)), allowMissingColumns=True
        )
        one_moment = Window.partitionBy(*by_key, FROM).orderBy(F.col(new).desc())
        # An incoming row replaces the existing row with the same start time.
        single = both.withColumn(number, F.row_number().over(one_moment)).where(f"{number} = 1")
    says = comparable_columns(incoming, but=(*write.keys, *_COLUMNS, write.watermark or ""))
    in_order = Window.partitionBy(*by_key).orderBy(F.col(FROM).asc_nulls_first())
    before = F.lag(F.struct(*says, F.lit(1))).over(in_order)
    repeats = free_name("repeats", single.columns)
    marked = single.withColumn(repeats, before.eqNullSafe(F.struct(*says, F.lit(1))))
    # Start of the next version, skipping repeats. The same order as above avoids another sort.
    listed = ", ".join(name(key) for key in write.keys)
    next_from = F.expr(
        f"lead(CASE WHEN NOT {repeats} THEN {FROM} END) IGNORE NULLS OVER "
        f"(PARTITION BY {listed} ORDER BY {FROM} ASC NULLS FIRST)"
    )
    # Without a watermark the start is the time of the run, and no change can arrive late.
    is_gone = F.lit(False) if write.watermark is not None else F.col(repeats)
    return marked.withColumns(
        {
            TO: F.when(F.col(repeats), F.col(FROM)).otherwise(next_from),
            CURRENT: next_from.isNull() & ~F.col(repeats),
            gone: is_gone,
        }
    ).select(*(F.col(name(c)) for c in incoming.columns), gone)


def _existing(incoming: DataFrame, write: LakeWrite) -> DataFrame:
    """The existing versions of the incoming keys."""
    from pyspark.sql import functions as F

    keys = [F.col(f"k.{name(key)}").eqNullSafe(F.col(f"t.{name(key)}")) for key in write.keys]
    touched = incoming.select(*(F.col(name(key)) for key in write.keys)).distinct()
    return write.existing().alias("t").join(touched.alias("k"), reduce(and_, keys), "left_semi")


def _warehouse_columns(
    load: Load, called: Mapping[str, str], staging: WarehouseTable
) -> list[WarehouseColumn]:
    """The validity columns that the staged rows do not have; `called` has the warehouse's names."""
    moment = staging.dialect.type_of(FROM, "timestamp")
    missing: list[WarehouseColumn] = []
    if FROM not in called:
        if load.watermark is None:
            raise KeyMissing(location=load.location, mode=load.mode, column="a watermark")
        begins = f"CAST({staging.column(called[load.watermark])} AS {moment})"
        missing.append(WarehouseColumn(name=FROM, type=moment, staged_type=None, value=begins))
    if TO not in called:
        missing.append(
            WarehouseColumn(name=TO, type=moment, staged_type=None, value=f"CAST(NULL AS {moment})")
        )
    if CURRENT not in called:
        boolean = staging.dialect.type_of(CURRENT, "boolean")
        missing.append(WarehouseColumn(name=CURRENT, type=boolean, staged_type=None, value="TRUE"))
    return missing


def _write_to_warehouse(write: WarehouseWrite) -> int:
    patterns = write.key_patterns()
    if not patterns:
        return 0
    versions_table = _versions_table(write.landing)
    write.run(_recompute(write.landing, patterns, write.table_columns))
    rows = write.count(versions_table)
    write.run([statements.drop(versions_table)])
    return rows


def _versions_table(landing: Landing) -> WarehouseTable:
    """The temporary table in which scd2 computes versions."""
    return WarehouseTable(dialect=landing.dialect, schema=None, table=f"{landing.staging.table}_v")


def _recompute(
    landing: Landing, patterns: Sequence[statements.KeyPattern], table_columns: Sequence[str]
) -> Iterator[str]:
    """Recompute and replace all versions of the staged keys."""
    versions_table = _versions_table(landing)
    versions = _versions_sql(landing, patterns, table_columns)
    yield f"CREATE TEMP TABLE {versions_table.sql} AS {versions}"
    yield from statements.delete_matching(landing, patterns)
    columns = names(table_columns, dialect=landing.dialect.name)
    yield f"INSERT INTO {landing.target.sql} ({columns}) SELECT {columns} FROM {versions_table.sql}"


def _versions_sql(
    landing: Landing, patterns: Sequence[statements.KeyPattern], columns: Sequence[str]
) -> str:
    quoted = [statements.quoted(landing, column) for column in columns]
    keys = names(landing.keys, dialect=landing.dialect.name)
    begins, ends, current = (statements.quoted(landing, column) for column in (FROM, TO, CURRENT))
    in_order = f"PARTITION BY {keys} ORDER BY {begins} NULLS FIRST"
    new_values = {column.name: column.value for column in landing.columns}
    existing = names(columns, dialect=landing.dialect.name, of=landing.target.table)
    both = [
        f"SELECT {existing}, 0 AS {_CAME} "
        f"FROM {landing.target.sql} JOIN {statements.keys_that_came(landing, pattern)} "
        f"ON {statements.same_keys(landing, pattern)}"
        for pattern in patterns
    ]
    # In a UNION a NULL takes its type from the SELECT before it, so existing rows come first.
    values = ", ".join(new_values.get(column, "NULL") for column in columns)
    both.append(f"SELECT {values}, 1 AS {_CAME} FROM {landing.staging.sql}")
    # A staged row replaces the existing row with the same start time.
    single = (
        f"SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY {keys}, {begins} ORDER BY {_CAME} DESC) AS {_NUMBER} "
        f"FROM ({' UNION ALL '.join(both)}) AS b"
    )
    marked = (
        f"SELECT *, CASE WHEN ROW_NUMBER() OVER ({in_order}) > 1{_unchanged(landing, in_order)} "
        f"THEN 1 ELSE 0 END AS {_REPEATS} FROM ({single}) AS s WHERE {_NUMBER} = 1"
    )
    next_begins = (
        f"LEAD({begins}) OVER (PARTITION BY {keys}, {_REPEATS} ORDER BY {begins} NULLS FIRST)"
    )
    # A repeat is stored with an empty validity: a late change may still fall before it.
    computed = {
        ends: f"CASE WHEN {_REPEATS} = 1 THEN {begins} ELSE {next_begins} END",
        current: f"({_REPEATS} = 0 AND {next_begins} IS NULL)",
    }
    selection = ", ".join(f"{computed.get(column, column)} AS {column}" for column in quoted)
    # Without a watermark the start is the time of the run, and no change can arrive late.
    filter_sql = "" if landing.watermark is not None else f" WHERE {_REPEATS} = 0"
    return f"SELECT {selection} FROM ({marked}) AS m{filter_sql}"


def _unchanged(landing: Landing, in_order: str) -> str:
    """SQL conditions: all values equal those of the version before."""
    # Bronze's columns differ between runs over the same data: they make no new version.
    excluded = {FROM, TO, CURRENT, *BRONZE_COLUMNS}
    exactly = {landing.watermark, *landing.keys}
    conditions = ""
    for column in landing.columns:
        if column.name.lower() in excluded or column.name in exactly:
            continue
        now = statements.quoted(landing, column.name)
        if column.is_nested:
            now = landing.dialect.comparable(now, has_map=column.has_map)
        before = f"LAG({now}) OVER ({in_order})"
        conditions += f" AND ({now} = {before} OR ({now} IS NULL AND {before} IS NULL))"
    return conditions


scd2 = WriteMode(
    replaces=lambda options: Replaces.SAME_KEYS,
    replaced_rows="the versions of the same keys at the same times",
    needs_keys=True,
    keeps_versions=True,
    other_writers=OtherWriters.SAME_MODE,
    columns=_COLUMNS,
    add_columns=with_validity,
    deduplicate=_deduplicate,
    write_to_lake=_write_to_lake,
    write_to_warehouse=_write_to_warehouse,
    warehouse_columns=_warehouse_columns,
)
