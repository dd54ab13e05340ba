"""Refuse to read a file again if quarantined rows without a file name may come from it."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.quarantine import quarantine_table
from goldsmith.engine.quarantine.liveness import COLUMNS, liveness_of
from goldsmith.journal.definitions import input_files
from goldsmith.planning.provenance import keeps_source_file
from goldsmith.planning.rewritten_files import FileRewritten
from goldsmith.storage.lake_tables import table_at


def refuse_unnamed(attempt: Attempt, resources: WorkerResources, files: Collection[str]) -> None:
    """Raise if live quarantined rows without a file name may come from these files.

    Reading the files again would quarantine or publish such rows a second time. If every file of
    the load that quarantined the rows is read again, all of them are replaced.
    """
    if not files or keeps_source_file(attempt.context):
        return
    dataset = str(attempt.context.stage.target_id)
    table = table_at(resources.storage, quarantine_table.name_of(dataset))
    if table is None:
        return
    rows = table.scan(selected_fields=COLUMNS).to_arrow().to_pylist()
    now = liveness_of(resources.journal, dataset, rows)
    mine = resources.increments.ledger(attempt.context).ledger_id
    unnamed = [
        row["_stage_run_id"]
        for row in rows
        if row["_source_file"] is None
        and now.is_live(row)
        and now.ledgers[row["_stage_run_id"]] == mine
    ]
    doubtful = sum(
        _is_doubtful(resources, name, set(files)) * unnamed.count(name) for name in set(unnamed)
    )
    if doubtful:
        reason = (
            f"{doubtful:,} live rows of its quarantine do not say which file they came from; "
            "replay or discard them first"
        )
        raise FileRewritten(target=dataset, files=tuple(sorted(files)), reason=reason)


def _is_doubtful(resources: WorkerResources, stage_run_id: str, files: set[str]) -> bool:
    """Whether only some of the files that a stage run read are read again.

    A replay reads no files: its rows may come from any.
    """
    query = sa.select(input_files.c.path).where(input_files.c.stage_run_id == stage_run_id)
    with resources.journal.reading() as connection:
        read = set(connection.execute(query).scalars())
    return not read or (bool(read & files) and not read <= files)
