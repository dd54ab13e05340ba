"""Read a throttled source: files go into staging in micro-batches; the stage reads them there.

Everything after the reading runs once over all staged rows, as without a throttle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.pace.sizes import RecordCounts, in_footer, records_per_byte
from goldsmith.engine.pace.stage_pace import MicroBatch, PacedFile, StagePace
from goldsmith.engine.pace.staged_input import StagedInput
from goldsmith.planning.stage_context import Dataset
from goldsmith.planning.throttled import Direction
from goldsmith.storage import staging
from goldsmith.storage.files import ListedFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
    staged = StagedInput(spark, resources.storage, attempt, dataset)
    # Of unknown files the first tells how many records the others hold.
    parts = [paced[:1], paced[1:]] if counts.is_guess else [paced]
    for part in parts:
        with closing(pace.batches(dataset, Direction.READ, part, counts.of)) as batches:
            for batch in batches:
                some = read([by_path[file.address] for file in batch.files])
                records = staged.add(some, rows.schema)
                if records is None:
                    charge_all(batch, paced, counts.of)
                    return rows
                batch.records = float(records)
                counts.learn(batch.records, batch.bytes)
                faults.reach("micro-batch-read")
    return staged.rows(rows.schema)


def charge_all(
    batch: MicroBatch, files: Sequence[PacedFile], records_of: Callable[[PacedFile], float]
) -> None:
    """Charge a batch for all files: Spark reads them as one object where they are used."""
    batch.files = tuple(files)
    batch.bytes = float(sum(file.bytes for file in files))
    batch.records = sum(records_of(file) for file in files)


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


def charge_folder(
    attempt: Attempt, resources: WorkerResources, dataset: Dataset, folder: str
) -> None:
    """Charge the rows that a warehouse has unloaded into a folder."""
    if not is_paced(attempt, resources, dataset):
        return
    files = staging.sized(resources.storage, folder)
    records = sum(in_footer(resources.storage, file) or 0 for file, _ in files)
    charge(attempt, resources, dataset, records=records, size=sum(size for _, size in files))
