"""The ledger: which files and snapshots a stage run consumes, written down before it publishes.

What is noted counts only once the stage run is published; that is decided by the target alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.journal import stored
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import input_files, input_snapshots, verdicts
from goldsmith.journal.tables import Verdict
from goldsmith.planning.files import FileSeen


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumed:
    """What one stage run reads: files by dataset, and the newest snapshot by dataset."""

    files: Mapping[str, Sequence[FileSeen]] = field(default_factory=dict)
    snapshots: Mapping[str, str] = field(default_factory=dict)


_NOTE_FILES = Prepared(sa.insert(input_files))
_NOTE_SNAPSHOTS = Prepared(sa.insert(input_snapshots).values(at=now()))
# The stage is not named: SQLite would go through all of it, by the key, and not by the index.
_COUNT = tuple(
    Prepared(
        sa.update(table)
        .where(table.c.stage_run_id == sa.bindparam("published"))
        .values(counted=True)
    )
    for table in (input_files, input_snapshots)
)

_UNSAY = Prepared(
    sa.delete(verdicts).where(
        verdicts.c.stage_run_id == sa.bindparam("stage_run"),
        verdicts.c.place == sa.bindparam("at_place"),
    )
)


def note(connection: sa.Connection, consumer: str, stage_run_id: str, consumed: Consumed) -> None:
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
    snapshots = [
        {
            "consumer": consumer,
            "dataset_id": dataset,
            "stage_run_id": stage_run_id,
            "snapshot": snapshot,
            "counted": False,
        }
        for dataset, snapshot in consumed.snapshots.items()
    ]
    for noting, rows in ((_NOTE_FILES, files), (_NOTE_SNAPSHOTS, snapshots)):
        noting.run_all(connection, rows)


def count(connection: sa.Connection, stage_run_id: str) -> None:
    """What a stage run noted counts from now on: it was published."""
    for counting in _COUNT:
        counting.run(connection, {"published": stage_run_id})


def start_over(connection: sa.Connection, consumer: str, stage_run_id: str) -> None:
    """A stage run replaced everything: only what it read itself counts.

    The rows stay, because whoever takes that stage run back needs them.
    """
    for table in (input_files, input_snapshots):
        connection.execute(
            sa.update(table)
            .where(
                table.c.consumer == consumer,
                table.c.stage_run_id != stage_run_id,
                table.c.superseded_by.is_(None),
            )
            .values(superseded_by=stage_run_id)
        )


def take_back(connection: sa.Connection, stage_run_ids: Sequence[str]) -> None:
    """Stage runs are no part of their target any more: all is as if they had never been."""
    for table in (input_files, input_snapshots):
        connection.execute(sa.delete(table).where(table.c.stage_run_id.in_(stage_run_ids)))
        connection.execute(
            sa.update(table)
            .where(table.c.superseded_by.in_(stage_run_ids))
            .values(superseded_by=None)
        )


def forget(connection: sa.Connection, stage_run_id: str) -> None:
    """What a stage run noted never happened."""
    for table in (input_files, input_snapshots):
        connection.execute(sa.delete(table).where(table.c.stage_run_id == stage_run_id))


def as_of(connection: sa.Connection, consumer: str, later: Sequence[str]) -> Consumed:
    """What a stage had consumed before some of its stage runs."""
    files: dict[str, dict[str, FileSeen]] = {}
    snapshots: dict[str, str] = {}
    for found in connection.execute(_counted_before(input_files, consumer, later)).mappings():
        files.setdefault(found["dataset_id"], {})[found["path"]] = FileSeen(
            path=found["path"],
            size=found["size"],
            etag=found["etag"],
            modified_at=found["modified_at"],
        )
    in_order = _counted_before(input_snapshots, consumer, later).order_by(input_snapshots.c.at)
    for found in connection.execute(in_order).mappings():
        snapshots[found["dataset_id"]] = found["snapshot"]
    return Consumed(
        files={dataset: list(seen.values()) for dataset, seen in files.items()},
        snapshots=snapshots,
    )


def _counted_before(table: sa.Table, consumer: str, later: Sequence[str]) -> sa.Select[Any]:
    return (
        sa.select(table)
        .where(table.c.consumer == consumer, table.c.counted.is_(True))
        .where(table.c.stage_run_id.not_in(later))
        .where(table.c.superseded_by.is_(None) | table.c.superseded_by.in_(later))
        .order_by(table.c.stage_run_id)
    )


def keep_verdicts(connection: sa.Connection, given: Iterable[Verdict]) -> None:
    """Write verdicts down; a stage run that is judged again says the last of them."""
    for verdict in given:
        same = {"stage_run": verdict.stage_run_id, "at_place": verdict.place}
        _UNSAY.run(connection, same)
        stored.insert(connection, verdict, at=now())
