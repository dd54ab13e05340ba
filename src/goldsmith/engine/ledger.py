"""The ledger: which files and snapshots a stage run consumes, written down before it publishes.

What is noted counts only once the stage run is published; that is decided by the target alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from goldsmith.journal import stored
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import input_files, input_snapshots, verdicts
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Verdict
from goldsmith.planning.files import FileSeen


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumed:
    """What one stage run reads: files by dataset, and the newest snapshot by dataset."""

    files: Mapping[str, Sequence[FileSeen]] = field(default_factory=dict)
    snapshots: Mapping[str, str] = field(default_factory=dict)


def note(journal: Journal, consumer: str, stage_run_id: str, consumed: Consumed) -> None:
    """Write down what a stage run is about to consume."""
    files = [
        {
            "consumer": consumer,
            "dataset_id": dataset,
            "path": file.path,
            "stage_run_id": stage_run_id,
            "size": file.size,
            "etag": file.etag,
            "modified_at": file.modified_at,
            "counted": False,
        }
        for dataset, seen in consumed.files.items()
        for file in seen
    ]
    with journal.writing() as connection:
        if files:
            connection.execute(sa.insert(input_files), files)
        for dataset, snapshot in consumed.snapshots.items():
            connection.execute(
                sa.insert(input_snapshots).values(
                    consumer=consumer,
                    dataset_id=dataset,
                    stage_run_id=stage_run_id,
                    snapshot=snapshot,
                    at=now(),
                    counted=False,
                )
            )


def count(connection: sa.Connection, stage_run_id: str) -> None:
    """What a stage run noted counts from now on: it was published."""
    for table in (input_files, input_snapshots):
        connection.execute(
            sa.update(table).where(table.c.stage_run_id == stage_run_id).values(counted=True)
        )


def start_over(connection: sa.Connection, consumer: str, stage_run_id: str) -> None:
    """After a full refresh only what that one read counts."""
    for table in (input_files, input_snapshots):
        connection.execute(
            sa.delete(table).where(
                table.c.consumer == consumer, table.c.stage_run_id != stage_run_id
            )
        )


def forget(connection: sa.Connection, stage_run_id: str) -> None:
    """What a stage run noted never happened."""
    for table in (input_files, input_snapshots):
        connection.execute(sa.delete(table).where(table.c.stage_run_id == stage_run_id))


def keep_verdicts(connection: sa.Connection, given: Iterable[Verdict]) -> None:
    """Write verdicts down; a stage run that is judged again says the last of them."""
    for verdict in given:
        mine = (verdicts.c.stage_run_id == verdict.stage_run_id) & (
            verdicts.c.place == verdict.place
        )
        connection.execute(sa.delete(verdicts).where(mine))
        stored.insert(connection, verdict, at=now())
