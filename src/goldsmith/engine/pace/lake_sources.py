"""Read a throttled lake table: its data files are read into staging in micro-batches.

Iceberg reads some files of a scan as a set of scan tasks, as its compaction does. Where that is not
possible (Spark Connect, rows that were changed and not only added), the rows are one object.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.names import name
from goldsmith.engine.pace.sources import charge, charge_all, is_paced
from goldsmith.engine.pace.stage_pace import PacedFile, StagePace
from goldsmith.engine.pace.staged_input import StagedInput
from goldsmith.engine.session.spark_session import is_connect
from goldsmith.planning.stage_context import Dataset
from goldsmith.planning.throttled import Direction
from goldsmith.storage.lake_tables import table_at

_LOG = logging.getLogger(__name__)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_table_paced(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    dataset: Dataset,
    scan: LakeScan,
    rows: DataFrame,
) -> DataFrame:
    """The rows of a scan, read into staging in micro-batches; `rows` are the same, not evaluated.

    Without a throttle `rows` are returned.
    """
    if not is_paced(attempt, resources, dataset):
        return rows
    limit = attempt.run_options.limit
    if limit is not None:  # a try-out reads few rows
        charge(attempt, resources, dataset, records=limit, size=0)
        return rows
    if is_connect(spark) or not scan.of_whole_files:
        records, size = scan.counted(resources)
        charge(attempt, resources, dataset, records=records, size=size)
        return rows
    tasks = scan.tasks(spark)
    files = [PacedFile(address=number, bytes=_size(task)) for number, task in tasks.items()]

    def records_of(file: PacedFile) -> float:
        return float(tasks[file.address].file().recordCount())

    staged = StagedInput(spark, resources.storage, attempt, dataset)
    pace = StagePace(attempt, resources)
    with closing(pace.batches(dataset, Direction.READ, files, records_of)) as batches:
        for batch in batches:
            some_tasks = [tasks[file.address] for file in batch.files]
            expected = sum(records_of(file) for file in batch.files)
            with scan.rows_of(spark, some_tasks) as some:
                staged_records = staged.add(some, rows.schema)
            if staged_records != expected:
                # The columns of the table have changed since (None), or files have deleted rows.
                _LOG.info("%s is read as one object: %s", scan, staged_records)
                charge_all(batch, files, records_of)
                return rows
            batch.records = expected
            faults.reach("micro-batch-read")
    return staged.rows(rows.schema) if files else rows


class LakeScan:
    """The rows of a lake table that a stage reads: after one snapshot, as of another."""

    def __init__(
        self, table: Sequence[str], since: str | None, until: str, *, of_whole_files: bool
    ) -> None:
        self.table = tuple(table)
        self.since = since
        self.until = until
        #: No row was changed in between: the rows are those of whole data files.
        self.of_whole_files = of_whole_files

    def __str__(self) -> str:
        return f"{'.'.join(self.table)} after {self.since} as of {self.until}"

    def counted(self, resources: WorkerResources) -> tuple[int, int]:
        """The records and bytes of the scan, by the summaries of the snapshots."""
        found = table_at(resources.storage, self.table[1:])
        snapshots = {} if found is None else {each.snapshot_id: each for each in found.snapshots()}
        newest = at = snapshots.get(int(self.until))
        records = size = 0
        while at is not None and str(at.snapshot_id) != self.since:
            records += _number(at.summary, "added-records")
            size += _number(at.summary, "added-files-size")
            at = snapshots.get(at.parent_snapshot_id or 0)
        if newest is not None and at is None:  # the earlier snapshot is no part of it any more
            records = _number(newest.summary, "total-records")
            size = _number(newest.summary, "total-files-size")
        return records, size

    def tasks(self, spark: SparkSession) -> dict[str, Any]:
        """A scan task for each data file, by its number."""
        table = self._java_table(spark)
        if self.since is None:
            scan = table.newScan().useSnapshot(int(self.until))
        else:
            scan = table.newIncrementalAppendScan().fromSnapshotExclusive(int(self.since))
            scan = scan.toSnapshot(int(self.until))
        planned = scan.planFiles()
        try:
            tasks = planned.iterator()
            found = []
            while tasks.hasNext():
                found.append(tasks.next())
        finally:
            planned.close()
        return {str(number): task for number, task in enumerate(found)}

    @contextmanager
    def rows_of(self, spark: SparkSession, tasks: Sequence[Any]) -> Iterator[DataFrame]:
        """The rows of some scan tasks."""
        jvm: Any = spark._jvm
        iceberg = jvm.org.apache.iceberg.spark
        manager, tables = iceberg.ScanTaskSetManager.get(), iceberg.SparkTableCache.get()
        table, set_id, listed = self._java_table(spark), uuid4().hex, jvm.java.util.ArrayList()
        for task in tasks:
            listed.add(task)
        tables.add(set_id, table)
        manager.stageTasks(table, set_id, listed)
        try:
            # The name of the set stands for a table that has only these files.
            yield spark.read.format("iceberg").load(set_id)
        finally:
            manager.removeTasks(table, set_id)
            tables.remove(set_id)

    def _java_table(self, spark: SparkSession) -> Any:
        jvm: Any = spark._jvm
        return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            spark._jsparkSession, name(*self.table)
        )


def _size(task: Any) -> int:
    return int(task.file().fileSizeInBytes())


def _number(summary: Any, key: str) -> int:
    return 0 if summary is None else int(summary.get(key) or 0)
