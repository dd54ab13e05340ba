"""Read a source at its pace: files go into staging in micro-batches, the stage reads them there.

Everything after the reading runs once over all staged rows, as without a throttle. The staged rows
are never published by themselves; they are removed when the attempt ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.names import name
from goldsmith.engine.pace.sizes import RecordCounts, in_footer, records_per_byte
from goldsmith.engine.pace.stage_pace import MicroBatch, PacedFile, StagePace
from goldsmith.planning.stage_context import Dataset
from goldsmith.planning.throttled import Direction
from goldsmith.storage import staging
from goldsmith.storage.files import ListedFile
from goldsmith.storage.lake_tables import table_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Spark's default type for times in Parquet has no calendar before 1900 in some readers.
_TIMES = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


def staged_input(resources: WorkerResources, stage_run_id: str) -> str:
    """The folder for the input that a stage run reads at the pace of a throttle."""
    base = resources.storage.address(resources.storage.settings.staging.folder).rstrip("/")
    return f"{base}/{stage_run_id}-read"


def is_paced(attempt: Attempt, resources: WorkerResources, dataset: Dataset) -> bool:
    """Whether a throttle limits how fast the dataset is read."""
    return bool(StagePace(attempt, resources).rates(dataset, Direction.READ))


def read_files_paced(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    dataset: Dataset,
    files: Sequence[ListedFile],
    rows: DataFrame,
    read: Callable[[Sequence[ListedFile]], DataFrame],
) -> DataFrame:
    """The rows of files, read into staging in micro-batches.

    `rows` are the rows of all files, not evaluated; `read` gives those of some files. If some
    files alone have other columns than all files together, all are read in one batch.
    """
    pace = StagePace(attempt, resources)
    by_path = {file.path: file for file in files}
    paced = [PacedFile(address=file.path, bytes=file.size) for file in files]
    ratio = records_per_byte(resources.journal, attempt.context.stage, dataset.dataset_id)
    counts = RecordCounts(resources.storage, ratio)
    index = [item.dataset_id for item in attempt.context.inputs].index(dataset.dataset_id)
    folder = f"{staged_input(resources, attempt.stage_run_id)}/{index}"
    schema = _storable(rows.schema)
    staged: list[str] = []
    # Of unknown files the first tells how many records the others hold.
    parts = [paced[:1], paced[1:]] if counts.is_guess else [paced]
    for part in parts:
        with closing(pace.batches(dataset, Direction.READ, part, counts.of)) as batches:
            for batch in batches:
                some = read([by_path[file.address] for file in batch.files])
                if _storable(some.schema) != schema:
                    # One object: its tokens are a debt, and Spark reads it where it is used.
                    _charge_rest(batch, paced, counts)
                    return rows
                staged.append(f"{folder}/{len(staged)}")
                _write(spark, some, schema, staged[-1])
                batch.records = float(_records(resources, staged[-1]))
                counts.learn(batch.records, batch.bytes)
                faults.reach("micro-batch-read")
    found = spark.read.schema(schema).parquet(*(staging.for_spark(each) for each in staged))
    return _with_nothing(found, rows.schema)


def charge(
    attempt: Attempt, resources: WorkerResources, dataset: Dataset, *, records: float, size: float
) -> None:
    """Wait for the tokens of a dataset that is read as one object: the rest is a debt."""
    pace = StagePace(attempt, resources)
    if not pace.rates(dataset, Direction.READ):
        return
    whole = [PacedFile(address=dataset.dataset_id, bytes=round(size))]
    with closing(pace.batches(dataset, Direction.READ, whole, lambda _: records)) as batches:
        for _batch in batches:
            pass  # its records are read where the stage uses them


def charge_table(
    attempt: Attempt,
    resources: WorkerResources,
    dataset: Dataset,
    table: Sequence[str],
    since: str | None,
    until: str,
) -> None:
    """Wait for the tokens of a lake table's new rows, counted by its snapshots."""
    if not is_paced(attempt, resources, dataset):
        return
    found = table_at(resources.storage, tuple(table))
    snapshots = {} if found is None else {each.snapshot_id: each for each in found.snapshots()}
    records, size, at = 0, 0, snapshots.get(int(until))
    newest = at
    while at is not None and str(at.snapshot_id) != since:
        records += _number(at.summary, "added-records")
        size += _number(at.summary, "added-files-size")
        at = snapshots.get(at.parent_snapshot_id or 0)
    if newest is not None and (since is None or at is None):
        records = _number(newest.summary, "total-records")
        size = _number(newest.summary, "total-files-size")
    charge(attempt, resources, dataset, records=records, size=size)


def charge_folder(
    attempt: Attempt, resources: WorkerResources, dataset: Dataset, folder: str
) -> None:
    """Charge the rows that a warehouse has unloaded into a folder."""
    if not is_paced(attempt, resources, dataset):
        return
    files = staging.sized(resources.storage, folder)
    records = sum(in_footer(resources.storage, file) or 0 for file, _ in files)
    size = sum(size for _, size in files)
    charge(attempt, resources, dataset, records=records, size=size)


def _number(summary: Any, key: str) -> int:
    return 0 if summary is None else int(summary.get(key) or 0)


def _charge_rest(batch: MicroBatch, paced: Sequence[PacedFile], counts: RecordCounts) -> None:
    batch.files = tuple(paced)
    batch.bytes = float(sum(file.bytes for file in paced))
    batch.records = sum(counts.of(file) for file in paced)


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


def _write(spark: SparkSession, rows: DataFrame, schema: StructType, folder: str) -> None:
    before = spark.conf.get(_TIMES[0])
    spark.conf.set(*_TIMES)
    try:
        stored = rows.select(*(name(column) for column in schema.names))
        stored.write.mode("overwrite").parquet(staging.for_spark(folder))
    finally:
        spark.conf.set(_TIMES[0], str(before))


def _records(resources: WorkerResources, folder: str) -> int:
    found = staging.files(resources.storage, folder)
    return sum(in_footer(resources.storage, file) or 0 for file in found)


def _with_nothing(rows: DataFrame, schema: StructType) -> DataFrame:
    """The rows with all columns in their order; those of type VOID are NULL."""
    from pyspark.sql import functions as F

    return rows.select(
        *(
            F.col(name(field.name))
            if field.name in rows.columns
            else F.lit(None).cast(field.dataType).alias(field.name)
            for field in schema.fields
        )
    )
