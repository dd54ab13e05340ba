"""The ledger: the files and snapshots that each stage run consumes, recorded before it publishes.

An entry counts as loaded only once its stage run is published, which the target alone decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.engine import stage_ledgers
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import input_files, input_snapshots, verdicts
from goldsmith.journal.tables import Verdict
from goldsmith.planning.input_selection import Consumed
from goldsmith.storage.files import ListedFile

_NOTE_FILES = Prepared(sa.insert(input_files))
_NOTE_SNAPSHOTS = Prepared(sa.insert(input_snapshots).values(at=now()))
_NOTE_TOUCHED = Prepared(
    sa.update(input_files)
    .where(
        input_files.c.consumer == sa.bindparam("stage"),
        input_files.c.dataset_id == sa.bindparam("dataset"),
        input_files.c.path == sa.bindparam("file"),
        input_files.c.etag == sa.bindparam("noted"),
    )
    .values(etag=sa.bindparam("new_etag"))
)
# No condition on `consumer`: with one, SQLite scans by primary key instead of by index.
_COUNT = tuple(
    Prepared(
        sa.update(table)
        .where(table.c.stage_run_id == sa.bindparam("published"))
        .values(counted=True)
    )
    for table in (input_files, input_snapshots)
)

_DELETE_VERDICT = Prepared(
    sa.delete(verdicts).where(
        verdicts.c.stage_run_id == sa.bindparam("stage_run"),
        verdicts.c.place == sa.bindparam("at_place"),
    )
)


def note(
    connection: sa.Connection, ledger_id: str, stage_run_id: str, token: int, consumed: Consumed
) -> None:
    """Record the input that a stage run is about to consume."""
    files = [
        {
            "consumer": ledger_id,
            "dataset_id": dataset,
            "path": file.path,
            "stage_run_id": stage_run_id,
            "size": file.size,
            "etag": file.noted_etag,
            "modified_at": file.modified_at,
            "counted": False,
            "token": token,
        }
        for dataset, seen in consumed.files.items()
        for file in seen
    ]
    snapshots = [
        {
            "consumer": ledger_id,
            "dataset_id": dataset,
            "stage_run_id": stage_run_id,
            "snapshot": snapshot,
            "counted": False,
            "token": token,
        }
        for dataset, snapshot in consumed.snapshots.items()
    ]
    for noting, rows in ((_NOTE_FILES, files), (_NOTE_SNAPSHOTS, snapshots)):
        noting.run_all(connection, rows)


def note_touched(
    connection: sa.Connection, consumer: str, touched: Sequence[tuple[str, str, str, str]]
) -> None:
    """Update the etags of files with unchanged content, so that they are not compared again."""
    rows = [
        {"stage": consumer, "dataset": dataset, "file": path, "noted": noted, "new_etag": etag}
        for dataset, path, noted, etag in touched
    ]
    _NOTE_TOUCHED.run_all(connection, rows)


def count(connection: sa.Connection, stage_run_id: str) -> None:
    """Mark the input of a published stage run as loaded."""
    for counting in _COUNT:
        counting.run(connection, {"published": stage_run_id})


def start_over(connection: sa.Connection, ledger_ids: Sequence[str], stage_run_id: str) -> None:
    """Mark earlier input as superseded by a stage run that replaced all rows of its target.

    The ledger rows stay: a restore to before that stage run needs them.
    """
    for table in (input_files, input_snapshots):
        connection.execute(
            sa.update(table)
            .where(
                table.c.consumer.in_(ledger_ids),
                table.c.stage_run_id != stage_run_id,
                table.c.superseded_by.is_(None),
            )
            .values(superseded_by=stage_run_id)
        )


def take_back(connection: sa.Connection, stage_run_ids: Sequence[str]) -> None:
    """Undo the ledger entries of stage runs that a restore removed from their target."""
    concerned = stage_ledgers.listing(connection, stage_run_ids)
    for table in (input_files, input_snapshots):
        connection.execute(sa.delete(table).where(table.c.stage_run_id.in_(stage_run_ids)))
        connection.execute(
            sa.update(table)
            .where(table.c.superseded_by.in_(stage_run_ids))
            .values(superseded_by=None)
        )
    stage_ledgers.look_again(connection, concerned)


def forget(connection: sa.Connection, stage_run_id: str) -> None:
    """Delete the ledger entries of a stage run that was not published."""
    for table in (input_files, input_snapshots):
        connection.execute(sa.delete(table).where(table.c.stage_run_id == stage_run_id))


def as_of(connection: sa.Connection, ledger_id: str, later: Sequence[str]) -> Consumed:
    """The input that a ledger counted before the stage runs `later`."""
    files: dict[str, dict[str, ListedFile]] = {}
    snapshots: dict[str, str] = {}
    for found in connection.execute(_counted_before(input_files, ledger_id, later)).mappings():
        files.setdefault(found["dataset_id"], {})[found["path"]] = ListedFile(
            path=found["path"],
            size=found["size"],
            etag=found["etag"],
            modified_at=found["modified_at"],
        )
    for found in connection.execute(_counted_before(input_snapshots, ledger_id, later)).mappings():
        snapshots[found["dataset_id"]] = found["snapshot"]
    return Consumed(
        files={dataset: list(seen.values()) for dataset, seen in files.items()},
        snapshots=snapshots,
    )


def _counted_before(table: sa.Table, ledger_id: str, later: Sequence[str]) -> sa.Select[Any]:
    return (
        sa.select(table)
        .where(table.c.consumer == ledger_id, table.c.counted.is_(True))
        .where(table.c.stage_run_id.not_in(later))
        .where(table.c.superseded_by.is_(None) | table.c.superseded_by.in_(later))
        .order_by(table.c.token.asc().nulls_first(), table.c.stage_run_id)
    )


def keep_verdicts(connection: sa.Connection, given: Iterable[Verdict]) -> None:
    """Store verdicts; a second verdict on the same check of a stage run replaces the first."""
    for verdict in given:
        same = {"stage_run": verdict.stage_run_id, "at_place": verdict.place}
        _DELETE_VERDICT.run(connection, same)
        row_storage.insert(connection, verdict, at=now())
