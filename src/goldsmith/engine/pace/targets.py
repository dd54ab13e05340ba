"""Load a throttled target: staged files are loaded in micro-batches and published once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.pace.sizes import bytes_per_row, in_footer
from goldsmith.engine.pace.stage_pace import Budget, PacedFile, StagePace
from goldsmith.planning.throttled import Direction
from goldsmith.storage import staging
from goldsmith.storage.storage import Storage

#: A staged file has at most this many rows, whatever the budget allows.
_MOST_ROWS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class LoadPace:
    """How staged files are loaded into the throttled target of one attempt."""

    pace: StagePace
    #: Staged files with more rows would not fit into one micro-batch.
    rows_per_file: int

    @property
    def scratch(self) -> str:
        """A folder for rows that are not yet loaded into the target's location."""
        return scratch_of_load(self.pace.resources.storage, self.pace.attempt.stage_run_id)

    def groups(self, folder: str) -> Generator[tuple[str, ...]]:
        """The Parquet files of a folder, in groups that may be loaded now."""
        resources, target = self.pace.resources, self.pace.attempt.context.target
        assert target is not None  # it has a throttle
        files = [
            PacedFile(address=address, bytes=size)
            for address, size in staging.sized(resources.storage, folder)
        ]

        def records(file: PacedFile) -> float:
            return float(in_footer(resources.storage, file.address) or 0)

        with closing(self.pace.batches(target, Direction.LOAD, files, records)) as batches:
            for batch in batches:
                yield tuple(file.address for file in batch.files)
                faults.reach("micro-batch-loaded")


def scratch_of_load(storage: Storage, stage_run_id: str) -> str:
    """The folder of the rows that a stage run has staged and not yet loaded."""
    return f"{staging.scratch(storage, stage_run_id)}/throttled-load"


def load_pace(attempt: Attempt, resources: WorkerResources) -> LoadPace | None:
    """The pace of an attempt's loads; None if no throttle limits its target."""
    pace = StagePace(attempt, resources)
    throttles = pace.rates(attempt.context.target, Direction.LOAD)
    if not throttles:
        return None
    budget = Budget.of(throttles)
    most = [float(_MOST_ROWS)]
    if budget.records is not None:
        most.append(budget.records)
    if budget.bytes is not None:
        most.append(budget.bytes / bytes_per_row(resources.journal, attempt.context.stage))
    return LoadPace(pace=pace, rows_per_file=max(1, int(min(most))))
