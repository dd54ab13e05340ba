"""Load staged rows into the location of a lake table, in micro-batches.

The files in the location are no part of the table yet: one commit adds them to the branch of the
stage run, or one MERGE reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.engine.pace.targets import LoadPace
from goldsmith.engine.quarantine.row_router import GOOD, ROUTE
from goldsmith.engine.write.stage_rows import StagedRows
from goldsmith.storage import staging

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def load_paced(pace: LoadPace, staged_rows: StagedRows, staged_in: str, folder: str) -> DataFrame:
    """Copy the good rows from `staged_in` to `folder` at the pace of the target; return them."""
    good = staged_rows.of(GOOD)
    staged_good, loaded = f"{staged_in}/{ROUTE}={GOOD}", f"{folder}/{ROUTE}={GOOD}"
    if staged_rows.moved:  # a check of keys moved rows, so the folders hold others
        staged_good = f"{staged_in}/good"
        writer = good.write.mode("overwrite").option("maxRecordsPerFile", pace.rows_per_file)
        writer.parquet(staging.for_spark(staged_good))
    # A write that a check broke off is done again.
    staging.remove(pace.pace.resources.storage, loaded)
    reader = good.sparkSession.read.schema(good.schema)
    for files in pace.groups(staged_good):
        some = reader.parquet(*(staging.for_spark(file) for file in files))
        writer = some.write.mode("append").option("compression", "zstd")
        writer.parquet(staging.for_spark(loaded))
    return reader.parquet(staging.for_spark(loaded))
