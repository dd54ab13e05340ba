"""Quarantined rows of a merge that its input has replaced.

A table that a stage merges from may replace rows (a file was fixed, a key was updated). The new row
of a key then stands for the old one: if that is quarantined, a replay of it would undo the fix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from goldsmith.catalog.write_modes import Replaces
from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.names import name
from goldsmith.engine.quarantine import quarantine_table, row_text
from goldsmith.engine.read.replay import live_ids, mark_taken, rows_with_ids
from goldsmith.engine.shape.watermarks import DECIMAL
from goldsmith.planning.input_selection import InputSelection

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def take_replaced(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    selection: InputSelection,
    rows: DataFrame,
) -> None:
    """Mark live quarantined rows whose key was read again in a row that is not older."""
    from pyspark.sql import functions as F

    stage, context = attempt.context.stage, attempt.context
    is_changed = bool(selection.inputs) and selection.inputs[0].changed
    mode = context.resolved.mode
    keeps_one_row = mode.replaces(stage.options) is Replaces.SAME_KEYS and not mode.keeps_versions
    if not keeps_one_row or not is_changed or selection.starts_over:
        return
    dataset = str(stage.target_id)
    mine = resources.increments.ledger(context).ledger_id
    alive = live_ids(resources, dataset, lambda ledger: ledger == mine)
    known = {column.lower(): column for column in rows.columns}
    keys = [known[key.lower()] for key in stage.keys if key.lower() in known]
    watermark = known.get((stage.watermark_column or "").lower())
    if not alive or len(keys) < len(stage.keys):
        return  # rows without a key fail at the write
    columns = [*keys, *([watermark] if watermark is not None else [])]
    quarantine = quarantine_table.table(spark, dataset)
    came = rows.select(_texts(row_text.to_text(rows, columns), columns).alias("s"))
    there = rows_with_ids(quarantine, alive).where("_row IS NOT NULL")
    there = there.select("_id", _texts(F.col("_row"), columns).alias("t"))
    found = there.join(came, _is_replaced(keys, watermark), "left_semi")
    if ids := [row["_id"] for row in found.collect()]:
        mark_taken(quarantine, attempt.stage_run_id, ids)
    faults.reach("replay-marked")


def _texts(row: Column, columns: Sequence[str]) -> Column:
    """Some columns of a row in JSON, each as text: their types may have changed."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    return F.from_json(row, StructType([StructField(column, StringType()) for column in columns]))


def _is_replaced(keys: Sequence[str], watermark: str | None) -> Column:
    """The row `s` would replace the row `t` in a merge; false if it is unknown which is newer."""
    from pyspark.sql import functions as F

    same = [F.col(f"s.{name(key)}").eqNullSafe(F.col(f"t.{name(key)}")) for key in keys]
    if watermark is None:
        return reduce(and_, same)
    ours, theirs = F.col(f"s.{name(watermark)}"), F.col(f"t.{name(watermark)}")
    newer = F.coalesce(
        *(ours.try_cast(type_) >= theirs.try_cast(type_) for type_ in ("timestamp", DECIMAL))
    )
    return reduce(and_, same) & (theirs.isNull() | newer)
