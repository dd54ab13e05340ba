"""The quarantine: records and rows that were kept aside, with their text and the reason.

One Iceberg table a dataset. Rows are keyed by the stage run that kept them aside and count only
if that stage run was published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.engine.addresses import lake_address
from goldsmith.engine.lake import LakeTable
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LAYER = "quarantine"
_SCHEMA = (
    "_stage_run_id STRING, _run_id STRING, _kept_at TIMESTAMP, _source_file STRING, "
    "_reasons ARRAY<STRING>, _text STRING, _row STRING"
)


def table(spark: SparkSession, target_id: str) -> LakeTable:
    return LakeTable(spark, LAYER, target_id.replace(".", "__"))


def keep_malformed(
    malformed: DataFrame, places: Places, *, target_id: str, stage_run_id: str, run_id: str
) -> None:
    """Keep records that could not be parsed."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    spark = malformed.sparkSession
    kept = table(spark, target_id)
    base = lake_address(places, places.settings.lake.warehouse or "").rstrip("/")
    location = f"{base}/{LAYER}/{kept.parts[-1]}"
    schema = StructType.fromDDL(_SCHEMA)
    assert isinstance(schema, StructType)
    # Ids begin alike, and of a file that holds other ids Iceberg could not tell: it refuses
    # to replace. A part of its own for each stage run is replaced as a whole.
    kept.create(schema, location=location, partition_by=("_stage_run_id",), properties={})
    rows = malformed.select(
        F.lit(stage_run_id).alias("_stage_run_id"),
        F.lit(run_id).alias("_run_id"),
        F.current_timestamp().alias("_kept_at"),
        F.col("_source_file"),
        F.array(F.col("_reason")).alias("_reasons"),
        F.col("_text"),
        F.lit(None).cast("string").alias("_row"),
    )
    # Tried again after a crash a stage has another id, and of the first one nothing counts.
    rows.writeTo(kept.sql_name).append()


def count(spark: SparkSession, target_id: str, stage_run_id: str) -> int:
    """How many rows a stage run kept aside."""
    from pyspark.sql import functions as F

    kept = spark.table(table(spark, target_id).sql_name)
    return kept.where(F.col("_stage_run_id") == stage_run_id).count()
