"""What the checks of a stage may ask for beside its rows: other datasets, earlier runs, files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from goldsmith.catalog.snapshot import Snapshot
from goldsmith.checks.context import Context
from goldsmith.checks.errors import NoSuchDataset
from goldsmith.engine import inputs
from goldsmith.engine.inputs import Chosen
from goldsmith.engine.work import Tools, Work
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.tables import RunStatus
from goldsmith.planning.neighbourhood import dataset_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Earlier runs that a check compares with.
_MOST_RUNS = 100


def context_of(
    spark: SparkSession,
    rows: Snapshot,
    tools: Tools,
    *,
    now: datetime,
    target_id: str,
    scratch: str,
    schema_before: StructType | None = None,
    newest_file: datetime | None = None,
) -> Context:
    """Where and when the checks of a dataset are put to its rows."""

    def dataset(name: str) -> DataFrame:
        found = dataset_of(name, rows)
        if not found.exists:
            raise NoSuchDataset(dataset=name, known=tuple(sorted(rows.dataset_ids)))
        return inputs.everything(spark, found, tools, scratch).rows

    return Context(
        now=now,
        dataset=dataset,
        schema_before=schema_before,
        row_counts=lambda: _row_counts(tools, target_id),
        newest_file=newest_file,
        parameters={"dataset": target_id},
    )


def surroundings(
    spark: SparkSession,
    work: Work,
    tools: Tools,
    chosen: Chosen,
    *,
    dataset_id: str,
    schema_before: StructType | None = None,
) -> Context:
    """What the checks of a stage run may ask for."""
    files = [file.modified_at for seen in chosen.consumed.files.values() for file in seen]
    return context_of(
        spark,
        work.near.rows,
        tools,
        now=work.at,
        target_id=dataset_id,
        scratch=scratch_of(tools, work.stage_run_id),
        schema_before=schema_before,
        newest_file=max((at for at in files if at is not None), default=None),
    )


def scratch_of(tools: Tools, stage_run_id: str) -> str:
    """Where tables of a warehouse are put that checks ask for."""
    base = tools.places.address(tools.places.settings.staging.folder).rstrip("/")
    return f"{base}/{stage_run_id}-looked-at"


def _row_counts(tools: Tools, target_id: str) -> Sequence[int]:
    """Rows that earlier published runs wrote, newest first."""
    asked = (
        sa.select(stage_runs.c.rows_written)
        .where(
            stage_runs.c.target_id == target_id,
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
            stage_runs.c.rows_written.is_not(None),
        )
        .order_by(stage_runs.c.ended_at.desc())
        .limit(_MOST_RUNS)
    )
    with tools.journal.reading() as connection:
        return [int(count) for count in connection.execute(asked).scalars()]
