"""Keep the newest row of each key; among equally new rows the choice is deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldsmith.checks.free_names import free_name
from goldsmith.engine.names import name
from goldsmith.engine.shape.comparable_columns import comparable_columns
from goldsmith.engine.shape.watermarks import newest_first, proved

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def latest_per_key(
    rows: DataFrame, *, keys: Sequence[str], newest_by: str | None = None
) -> DataFrame:
    from pyspark.sql import functions as F

    rank = free_name("rank", rows.columns)
    ranked = rows.withColumn(rank, rank_in_key(rows, keys=keys, newest_by=newest_by))
    return ranked.where(F.col(rank) == 1).drop(rank)


def rank_in_key(rows: DataFrame, *, keys: Sequence[str], newest_by: str | None = None) -> Column:
    """1 for the newest row of each key, 2 for the next one …"""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    newest = [] if newest_by is None else newest_first(rows, newest_by)
    says = comparable_columns(rows)
    # Two hashes break ties: rows equal in both have equal values. Sorting text takes twice as long.
    window = Window.partitionBy(*(F.col(name(key)) for key in keys)).orderBy(
        *newest, F.xxhash64(*says), F.xxhash64(F.lit(1), *says)
    )
    rank = F.row_number().over(window)
    return rank if newest_by is None else proved(rank, rows, keys, newest_by)
