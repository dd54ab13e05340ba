"""The quarantine: records and rows that were kept aside, whole, with what they broke and why.

One Iceberg table a dataset. Rows are keyed by the stage run that kept them aside and count only
if that stage run was published: one that a critical check held back leaves its broken rows to be
looked at, and its input is read again. A row that was sent through its stage again says by which
stage run, and is gone once that one was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.checks.planned import PlannedCheck
from goldsmith.engine.addresses import lake_address
from goldsmith.engine.lake import LakeTable
from goldsmith.engine.names import name
from goldsmith.engine.split import Split
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

LAYER = "quarantine"
_SCHEMA = (
    "_id STRING, _stage_run_id STRING, _run_id STRING, _kept_at TIMESTAMP, _source_file STRING, "
    "_checks ARRAY<STRING>, _reasons ARRAY<STRING>, _text STRING, _row STRING, "
    "_schema STRING, _replayed_by STRING"
)
#: A row as text, and back, without losing anything of it.
AS_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Keeper:
    """Who keeps rows aside: the dataset they were meant for, the stage run, the run."""

    places: Places
    target_id: str
    stage_run_id: str
    run_id: str

    def keep_malformed(self, malformed: DataFrame) -> int:
        """Keep records that could not be parsed; how many there were."""
        from pyspark.sql import functions as F

        rows = malformed.select(
            *self._marks(),
            F.col("_source_file"),
            F.array(F.lit("malformed")).alias("_checks"),
            F.array(F.col("_reason")).alias("_reasons"),
            F.col("_text"),
            F.lit(None).cast("string").alias("_row"),
            F.lit(None).cast("string").alias("_schema"),
        )
        return self._keep(rows, "malformed")

    def keep_broken(self, rows: DataFrame, split: Split, repeats: Mapping[int, Column]) -> int:
        """Keep rows that broke checks; how many there were.

        `repeats` tells the rows that break checks of keys, which cannot be told by one row.
        """
        from pyspark.sql import functions as F

        broken = {**split.evaluation.broken_rows(), **repeats}
        told = [one for one in split.evaluation.checks if one.place in broken]
        held = [column for column in rows.columns if not column.startswith("_goldsmith_")]
        file = F.col("_source_file") if "_source_file" in rows.columns else F.lit(None)
        row = F.struct(*(F.col(name(column)) for column in held))
        kept = rows.select(
            *self._marks(),
            file.cast("string").alias("_source_file"),
            _those([(one.name or one.check.name, broken[one.place]) for one in told], "_checks"),
            _those([(_reason(one), broken[one.place]) for one in told], "_reasons"),
            F.lit(None).cast("string").alias("_text"),
            F.to_json(row, AS_JSON).alias("_row"),
            F.lit(rows.select(*(name(column) for column in held)).schema.json()).alias("_schema"),
        )
        return self._keep(kept, "broken")

    def _marks(self) -> list[Column]:
        from pyspark.sql import functions as F

        return [
            F.lit(self.stage_run_id).alias("_stage_run_id"),
            F.lit(self.run_id).alias("_run_id"),
            F.current_timestamp().alias("_kept_at"),
        ]

    def _keep(self, rows: DataFrame, what: str) -> int:
        from pyspark.sql import functions as F

        kept = self._made(rows.sparkSession)
        signed = f"{self.stage_run_id}/{what}"
        number = F.monotonically_increasing_id().cast("string")
        rows = rows.select(
            F.concat(F.lit(f"{signed}/"), number).alias("_id"),
            "*",
            F.lit(None).cast("string").alias("_replayed_by"),
        )
        kept.append_to_main(rows, signed)
        found = kept.summary(signed) or {}
        return int(found.get("added-records", 0))

    def _made(self, spark: SparkSession) -> LakeTable:
        from pyspark.sql.types import StructType

        kept = table(spark, self.target_id)
        base = lake_address(self.places, self.places.settings.lake.warehouse or "").rstrip("/")
        schema = StructType.fromDDL(_SCHEMA)
        assert isinstance(schema, StructType)
        location = f"{base}/{LAYER}/{kept.parts[-1]}"
        kept.create(schema, location=location, partition_by=(), properties={})
        return kept


def table(spark: SparkSession, target_id: str) -> LakeTable:
    return LakeTable(spark, LAYER, target_id.replace(".", "__"))


def _reason(planned: PlannedCheck) -> str:
    return f"{planned.rule_set_id}: {planned.says}"


def _those(conditions: Sequence[tuple[str, Column]], column: str) -> Column:
    """The words whose condition is true, each once."""
    from pyspark.sql import functions as F

    each = [F.when(condition, F.lit(said)) for said, condition in conditions]
    return F.array_distinct(F.array_compact(F.array(*each))).alias(column)
