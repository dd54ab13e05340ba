"""The input that a throttled stage has read: Parquet in staging, one folder a micro-batch.

The staged rows are never published by themselves; they are removed with the scratch folder of the
stage run, when the attempt ends or the next run settles a dead one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.engine.attempt import Attempt
from goldsmith.engine.names import name
from goldsmith.engine.pace.sizes import in_footer
from goldsmith.planning.stage_context import Dataset
from goldsmith.storage import staging
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Spark's default type for times in Parquet, INT96, has no statistics and is deprecated.
_TIMES = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


def staged_inputs(storage: Storage, stage_run_id: str) -> str:
    """The folder for all inputs that a stage run reads at the pace of a throttle."""
    return f"{staging.scratch(storage, stage_run_id)}/throttled-read"


class StagedInput:
    """The staged rows of one input of an attempt."""

    def __init__(
        self, spark: SparkSession, storage: Storage, attempt: Attempt, dataset: Dataset
    ) -> None:
        self._spark = spark
        self._storage = storage
        index = [each.dataset_id for each in attempt.context.inputs].index(dataset.dataset_id)
        self._folder = f"{staged_inputs(storage, attempt.stage_run_id)}/{index}"
        self._folders: list[str] = []

    def add(self, rows: DataFrame, schema: StructType) -> int | None:
        """Stage the rows of a micro-batch; how many they are. None: they have other columns."""
        storable = _storable(schema)
        if _storable(rows.schema) != storable:
            return None
        folder = f"{self._folder}/{len(self._folders)}"
        self._folders.append(folder)
        before = self._spark.conf.get(_TIMES[0])
        self._spark.conf.set(*_TIMES)
        try:
            stored = rows.select(*(name(column) for column in storable.names))
            stored.write.mode("overwrite").parquet(staging.for_spark(folder))
        finally:
            self._spark.conf.set(_TIMES[0], str(before))
        files = staging.files(self._storage, folder)
        return sum(in_footer(self._storage, file) or 0 for file in files)

    def rows(self, schema: StructType) -> DataFrame:
        """All staged rows, with the columns in their order; those of type VOID are NULL."""
        from pyspark.sql import functions as F

        storable = _storable(schema)
        folders = [staging.for_spark(folder) for folder in self._folders]
        rows = self._spark.read.schema(storable).parquet(*folders)
        return rows.select(
            *(
                F.col(name(field.name))
                if field.name in storable.names
                else F.lit(None).cast(field.dataType).alias(field.name)
                for field in schema.fields
            )
        )


def _storable(schema: StructType) -> StructType:
    """The columns that Parquet can hold: one of type VOID has no value."""
    from pyspark.sql.types import NullType, StructField, StructType

    return StructType(
        [
            StructField(field.name, field.dataType)
            for field in schema.fields
            if not isinstance(field.dataType, NullType)
        ]
    )
