"""The quarantine: whole records and rows with the checks they broke and the reasons.

Each dataset has one Iceberg table. A row names the stage run that quarantined it, and counts only
if that stage run was published. If a critical check failed, the broken rows stay for inspection,
and the input is read again. `liveness.py` decides which rows are live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.names import name
from goldsmith.engine.quarantine import row_text
from goldsmith.engine.quarantine.row_router import RowRouter
from goldsmith.storage.spark_addresses import lake_address
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

LAYER = "quarantine"
_SCHEMA = (
    "_id STRING, _stage_run_id STRING, _run_id STRING, _kept_at TIMESTAMP, _source_file STRING, "
    "_checks ARRAY<STRING>, _reasons ARRAY<STRING>, _text STRING, _row STRING, "
    "_schema STRING, _replayed_by STRING"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuarantineWriter:
    """Write quarantined rows of one stage run."""

    storage: Storage
    target_id: str
    stage_run_id: str
    run_id: str

    def keep_malformed(self, malformed: DataFrame, index: int) -> int:
        """Quarantine malformed records of one input; return their number."""
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
        return self._keep(rows, f"malformed-{index}" if index else "malformed")

    def keep_broken(self, rows: DataFrame, router: RowRouter, repeats: Mapping[int, Column]) -> int:
        """Quarantine rows that broke checks; return their number.

        `repeats` has the conditions of key checks, which one row alone cannot decide.
        """
        from pyspark.sql import functions as F

        broken = {**router.evaluation.broken_rows(), **repeats}
        checks = [check for check in router.evaluation.checks if check.index in broken]
        columns = [column for column in rows.columns if not column.startswith("_goldsmith_")]
        file = F.col("_source_file") if "_source_file" in rows.columns else F.lit(None)
        quarantined = rows.select(
            *self._marks(),
            file.cast("string").alias("_source_file"),
            _texts_where(
                [(check.name or check.check.name, broken[check.index]) for check in checks],
                "_checks",
            ),
            _texts_where([(_reason(check), broken[check.index]) for check in checks], "_reasons"),
            F.lit(None).cast("string").alias("_text"),
            row_text.to_text(rows, columns).alias("_row"),
            F.lit(rows.select(*(name(column) for column in columns)).schema.json()).alias(
                "_schema"
            ),
        )
        return self._keep(quarantined, "broken")

    def _marks(self) -> list[Column]:
        from pyspark.sql import functions as F

        return [
            F.lit(self.stage_run_id).alias("_stage_run_id"),
            F.lit(self.run_id).alias("_run_id"),
            F.current_timestamp().alias("_kept_at"),
        ]

    def _keep(self, rows: DataFrame, what: str) -> int:
        from pyspark.sql import functions as F

        quarantine = self._create(rows.sparkSession)
        signed = f"{self.stage_run_id}/{what}"
        number = F.monotonically_increasing_id().cast("string")
        rows = rows.select(
            F.concat(F.lit(f"{signed}/"), number).alias("_id"),
            "*",
            F.lit(None).cast("string").alias("_replayed_by"),
        )
        quarantine.append_to_main(rows, signed)
        found = quarantine.summary(signed) or {}
        return int(found.get("added-records", 0))

    def _create(self, spark: SparkSession) -> LakeTable:
        from pyspark.sql.types import StructType

        quarantine = table(spark, self.target_id)
        base = lake_address(self.storage, self.storage.settings.lake.warehouse or "").rstrip("/")
        schema = StructType.fromDDL(_SCHEMA)
        assert isinstance(schema, StructType)
        location = f"{base}/{LAYER}/{quarantine.parts[-1]}"
        quarantine.create(schema, location=location, partition_by=(), properties={})
        return quarantine


def name_of(target_id: str) -> tuple[str, str]:
    """The namespace and name of a dataset's quarantine table in the lake."""
    return LAYER, target_id.replace(".", "__")


def table(spark: SparkSession, target_id: str) -> LakeTable:
    return LakeTable(spark, *name_of(target_id))


def _reason(planned: PlannedCheck) -> str:
    return f"{planned.rule_set_id}: {planned.says}"


def _texts_where(conditions: Sequence[tuple[str, Column]], column: str) -> Column:
    """An array of the distinct texts whose condition is true."""
    from pyspark.sql import functions as F

    each = [F.when(condition, F.lit(text)) for text, condition in conditions]
    return F.array_distinct(F.array_compact(F.array(*each))).alias(column)
