"""Keep the newest row of each key; of rows equally new the choice is always the same one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldsmith.engine.names import name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def latest_per_key(
    rows: DataFrame, *, keys: Sequence[str], newest_by: str | None = None
) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    newest = [] if newest_by is None else [F.col(name(newest_by)).desc_nulls_last()]
    # Bookkeeping differs between runs over the same data: it must not decide.
    held = [F.col(name(c)) for c in rows.columns if not c.startswith("_")]
    window = Window.partitionBy(*(F.col(name(key)) for key in keys)).orderBy(
        *newest, F.xxhash64(*held), F.to_json(F.struct(*held))
    )
    ranked = rows.withColumn("_rank", F.row_number().over(window))
    return ranked.where("_rank = 1").drop("_rank")
