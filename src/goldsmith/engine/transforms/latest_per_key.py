"""Keep the newest row of each key; of rows equally new the choice is always the same one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldsmith.engine.names import name
from goldsmith.engine.transforms.held import held

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def latest_per_key(
    rows: DataFrame, *, keys: Sequence[str], newest_by: str | None = None
) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    newest = [] if newest_by is None else [F.col(name(newest_by)).desc_nulls_last()]
    says = held(rows)
    # Two hashes: rows that are alike in both say the same. As text they take twice as long to sort.
    window = Window.partitionBy(*(F.col(name(key)) for key in keys)).orderBy(
        *newest, F.xxhash64(*says), F.xxhash64(F.lit(1), *says)
    )
    ranked = rows.withColumn("_rank", F.row_number().over(window))
    return ranked.where("_rank = 1").drop("_rank")
