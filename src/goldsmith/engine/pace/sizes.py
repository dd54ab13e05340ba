"""Count the records of files by their footers, or estimate them from files read before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from goldsmith.engine.pace.stage_pace import PacedFile
from goldsmith.engine.warehouses.staged import file_system
from goldsmith.journal.definitions import input_files, stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus

if TYPE_CHECKING:
    from goldsmith.catalog.pipelines import Stage
    from goldsmith.storage.storage import Storage

#: Bytes of a record, if nothing else is known of the files.
_GUESS = 100.0
_PARQUET = ".parquet"


@dataclass
class RecordCounts:
    """The records of one dataset's files; it learns from the files that were read."""

    storage: Storage
    #: Records a byte, by earlier runs; None: unknown.
    per_byte: float | None = None
    _records: float = 0.0
    _bytes: float = 0.0

    def of(self, file: PacedFile) -> float:
        """The records of a file, exact if its footer has them."""
        if file.address.endswith(_PARQUET):
            exact = in_footer(self.storage, self.storage.address(file.address))
            if exact is not None:
                return float(exact)
        ratio = self._records / self._bytes if self._bytes else self.per_byte
        return file.bytes * (1 / _GUESS if ratio is None else ratio)

    def learn(self, records: float, size: float) -> None:
        """These many records were in files of this size."""
        self._records += records
        self._bytes += size

    @property
    def is_guess(self) -> bool:
        """No record count is known yet, except from footers."""
        return self.per_byte is None and not self._bytes


def in_footer(storage: Storage, address: str) -> int | None:
    """The rows in the footer of a Parquet file at a real address; None for a broken file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    system, path = file_system(storage, address)
    try:
        with system.open_input_file(path) as opened:
            return int(pq.read_metadata(opened).num_rows)
    except (pa.ArrowException, OSError):
        return None


def records_per_byte(journal: Journal, stage: Stage, dataset_id: str) -> float | None:
    """The records a byte that the last published run of a stage found in a dataset's files."""
    query = (
        sa.select(stage_runs.c.rows_read, sa.func.sum(input_files.c.size))
        .join(input_files, input_files.c.stage_run_id == stage_runs.c.stage_run_id)
        .where(
            stage_runs.c.pipeline_id == stage.pipeline_id,
            stage_runs.c.stage_order == stage.stage_order,
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
            input_files.c.dataset_id == dataset_id,
        )
        .group_by(stage_runs.c.stage_run_id, stage_runs.c.rows_read, stage_runs.c.started_at)
        .order_by(stage_runs.c.started_at.desc())
        .limit(1)
    )
    with journal.reading() as connection:
        found = connection.execute(query).first()
    return found[0] / found[1] if found and found[0] and found[1] else None


def bytes_per_row(journal: Journal, stage: Stage) -> float:
    """The stored bytes of a row that the last published run of a stage wrote."""
    query = (
        sa.select(stage_runs.c.bytes_written, stage_runs.c.rows_written)
        .where(
            stage_runs.c.pipeline_id == stage.pipeline_id,
            stage_runs.c.stage_order == stage.stage_order,
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
            stage_runs.c.bytes_written > 0,
            stage_runs.c.rows_written > 0,
        )
        .order_by(stage_runs.c.started_at.desc())
        .limit(1)
    )
    with journal.reading() as connection:
        found = connection.execute(query).first()
    return float(found[0]) / found[1] if found else _GUESS
