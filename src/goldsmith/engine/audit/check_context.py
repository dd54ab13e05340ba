"""The check context: other datasets, earlier runs and files that checks may read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.context import Context
from goldsmith.checks.errors import NoSuchDataset
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.read import inputs
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.tables import RunStatus
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.stage_context import dataset_of
from goldsmith.storage import staging

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: How many earlier runs a check may compare with.
_MOST_RUNS = 100


def context_of(
    spark: SparkSession,
    rows: CatalogRows,
    resources: WorkerResources,
    *,
    now: datetime,
    target_id: str,
    scratch: str,
    schema_before: StructType | None = None,
    newest_file: datetime | None = None,
) -> Context:
    """The check context of a dataset."""

    def dataset(name: str) -> DataFrame:
        found = dataset_of(name, rows)
        if not found.exists:
            raise NoSuchDataset(dataset=name, known=tuple(sorted(rows.dataset_ids)))
        return inputs.all_rows(spark, found, resources, scratch).rows

    return Context(
        now=now,
        dataset=dataset,
        schema_before=schema_before,
        row_counts=lambda: _row_counts(resources, target_id),
        newest_file=newest_file,
        parameters={"dataset": target_id},
    )


def check_context(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    selection: InputSelection,
    *,
    dataset_id: str,
    schema_before: StructType | None = None,
) -> Context:
    """The check context of a stage run."""
    files = [file.modified_at for seen in selection.consumed.files.values() for file in seen]
    return context_of(
        spark,
        attempt.context.rows,
        resources,
        now=attempt.at,
        target_id=dataset_id,
        scratch=scratch_of(resources, attempt.stage_run_id),
        schema_before=schema_before,
        newest_file=max((at for at in files if at is not None), default=None),
    )


def scratch_of(resources: WorkerResources, stage_run_id: str) -> str:
    """The folder for copies of warehouse tables that checks read."""
    return staging.scratch(resources.storage, stage_run_id)


def _row_counts(resources: WorkerResources, target_id: str) -> Sequence[int]:
    """Rows that earlier published runs wrote, newest first."""
    query = (
        sa.select(stage_runs.c.rows_written)
        .where(
            stage_runs.c.target_id == target_id,
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
            stage_runs.c.rows_written.is_not(None),
        )
        .order_by(stage_runs.c.ended_at.desc())
        .limit(_MOST_RUNS)
    )
    with resources.journal.reading() as connection:
        return [int(count) for count in connection.execute(query).scalars()]
