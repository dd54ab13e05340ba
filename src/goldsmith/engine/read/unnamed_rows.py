"""Observe live quarantined rows without a file name, which files read again may have given."""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.quarantine import quarantine_table
from goldsmith.engine.quarantine.liveness import COLUMNS, liveness_of
from goldsmith.journal.definitions import input_files
from goldsmith.planning.observed import UnnamedRows
from goldsmith.planning.provenance import keeps_source_file
from goldsmith.storage.lake_tables import table_at


def observe_unnamed(attempt: Attempt, resources: WorkerResources) -> tuple[UnnamedRows, ...]:
    """The live quarantined rows of this stage without a file name, by stage run."""
    if keeps_source_file(attempt.context):
        return ()
    dataset = str(attempt.context.stage.target_id)
    table = table_at(resources.storage, quarantine_table.name_of(dataset))
    if table is None:
        return ()
    rows = table.scan(selected_fields=COLUMNS).to_arrow().to_pylist()
    now = liveness_of(resources.journal, dataset, rows)
    mine = resources.increments.ledger(attempt.context).ledger_id
    unnamed = Counter(
        row["_stage_run_id"]
        for row in rows
        if row["_source_file"] is None
        and now.is_live(row)
        and now.ledgers[row["_stage_run_id"]] == mine
    )
    return tuple(
        UnnamedRows(rows=number, files=_files_read(resources, stage_run_id))
        for stage_run_id, number in unnamed.items()
    )


def _files_read(resources: WorkerResources, stage_run_id: str) -> frozenset[str]:
    query = sa.select(input_files.c.path).where(input_files.c.stage_run_id == stage_run_id)
    with resources.journal.reading() as connection:
        return frozenset(connection.execute(query).scalars())
