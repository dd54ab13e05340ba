"""Keep every version of each key with its validity period, also for late and repeated changes.

For each key in the incoming rows all versions are recomputed from the existing and the incoming
rows, in the order of the watermark. A change with the same values as the one before it is no new
version. It is stored with an empty validity period, because a change that arrives late may fall
between the two and make it a version (docs/decisions/0007-scd2-repeats.md).
"""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from goldsmith.checks.free_names import free_name
from goldsmith.engine.names import name
from goldsmith.engine.shape.comparable_columns import comparable_columns
from goldsmith.engine.shape.latest_per_key import latest_per_key
from goldsmith.engine.shape.watermarks import time_of
from goldsmith.engine.write.modes.writer import ModeWrite
from goldsmith.planning.resolved_stage import BRONZE_COLUMNS, SCD2_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FROM, TO, CURRENT = SCD2_COLUMNS
_VIEW = "goldsmith_versions"
_INGESTED_AT = BRONZE_COLUMNS[1]


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


def scd2(writing: ModeWrite) -> None:
    incoming = latest_per_key(writing.rows, keys=(*writing.keys, FROM))
    gone = free_name("gone", incoming.columns)
    if writing.is_empty:
        versions = _versions(incoming, writing, gone).where(f"NOT {gone}").drop(gone)
        writing.table.append(versions, writing.branch, writing.stage_run_id)
        return
    # Checkpointed: Spark cannot plan a MERGE whose source has window functions over its target.
    _versions(incoming, writing, gone).localCheckpoint(eager=True).createOrReplaceTempView(_VIEW)
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in (*writing.keys, FROM))
    columns = [name(column) for column in incoming.columns]
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    writing.table.merge(
        f"MERGE INTO {writing.table.branch_name(writing.branch)} t USING {_VIEW} s ON {same}"
        f" WHEN MATCHED AND s.{gone} THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {updates}"
        f" WHEN NOT MATCHED AND NOT s.{gone} THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})",
        writing.stage_run_id,
    )


def _versions(incoming: DataFrame, writing: ModeWrite, gone: str) -> DataFrame:
    """All versions of the incoming keys; the column `gone` marks versions to delete."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_key = [F.col(name(key)) for key in writing.keys]
    single = incoming
    if not writing.is_empty:
        existing = _existing(incoming, writing)
        new, number = (free_name(column, existing.columns) for column in ("came", "number"))
        both = existing.withColumn(new, F.lit(0)).unionByName(
            incoming.withColumn(new, F.lit(1)), allowMissingColumns=True
        )
        one_moment = Window.partitionBy(*by_key, FROM).orderBy(F.col(new).desc())
        # An incoming row replaces the existing row with the same start time.
        single = both.withColumn(number, F.row_number().over(one_moment)).where(f"{number} = 1")
    says = comparable_columns(incoming, but=(*writing.keys, *SCD2_COLUMNS, writing.watermark or ""))
    in_order = Window.partitionBy(*by_key).orderBy(F.col(FROM).asc_nulls_first())
    before = F.lag(F.struct(*says, F.lit(1))).over(in_order)
    repeats = free_name("repeats", single.columns)
    marked = single.withColumn(repeats, before.eqNullSafe(F.struct(*says, F.lit(1))))
    # Start of the next version, skipping repeats. The same order as above avoids another sort.
    listed = ", ".join(name(key) for key in writing.keys)
    next_from = F.expr(
        f"lead(CASE WHEN NOT {repeats} THEN {FROM} END) IGNORE NULLS OVER "
        f"(PARTITION BY {listed} ORDER BY {FROM} ASC NULLS FIRST)"
    )
    # Without a watermark the start is the time of the run, and no change can arrive late.
    is_gone = F.lit(False) if writing.watermark is not None else F.col(repeats)
    return marked.withColumns(
        {
            TO: F.when(F.col(repeats), F.col(FROM)).otherwise(next_from),
            CURRENT: next_from.isNull() & ~F.col(repeats),
            gone: is_gone,
        }
    ).select(*(F.col(name(c)) for c in incoming.columns), gone)


def _existing(incoming: DataFrame, writing: ModeWrite) -> DataFrame:
    """The existing versions of the incoming keys."""
    from pyspark.sql import functions as F

    table_rows = writing.table.spark.table(writing.table.branch_name(writing.branch))
    keys = [F.col(f"k.{name(key)}").eqNullSafe(F.col(f"t.{name(key)}")) for key in writing.keys]
    touched = incoming.select(*(F.col(name(key)) for key in writing.keys)).distinct()
    return table_rows.alias("t").join(touched.alias("k"), reduce(and_, keys), "left_semi")
